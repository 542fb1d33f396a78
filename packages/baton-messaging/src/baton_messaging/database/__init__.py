"""PostgreSQL, as the rooms above need it: which errors pass, a connection of its own, what wakes the relay.

The room is the platform's. It keeps the promises that a database that is away costs no attempt (``errors``) and that a
producer is done at its commit (``outbox_notify``).
"""
