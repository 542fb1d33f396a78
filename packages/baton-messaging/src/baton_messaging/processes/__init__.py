"""Heartbeats of worker, relay, collector and beat: each process says that its loop turns, and what it has in flight.

The room is the platform's. It keeps the promise that anyone can ask how far a message got: a fresh row of ``Heartbeat``
proves a turning loop, not a pid. The loop stamps, a thread writes. So a database that is away never holds up the loop,
and a loop that hangs is never covered up by a thread that does not. No statement is added to the way of a message.
"""
