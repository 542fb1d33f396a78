"""How a message becomes a dead letter: recorded by the worker or the relay, or collected from the broker.

The room is the platform's. It keeps the promise that every way a message can die ends in one list, with cause, owner
and error. For the broker's ``collector`` is the process, ``raw_message`` reads, ``cause`` tells, ``transfer`` writes.
"""
