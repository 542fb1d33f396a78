"""Signs of life: each process says in a row of ``Heartbeat`` that its loop turns, and what it has in flight.

The loop stamps, a thread writes. So a database that is away never holds up the loop, and a loop that hangs is never
covered up by a thread that does not. No statement is added to the way of a message.
"""
