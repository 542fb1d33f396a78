"""A message and what is told of it: its envelope, what it follows from, its trace, and the description of an error.

The room is the platform's. It keeps the promise of a deterministic id (one message is one id however often it is
delivered), and that a message forged in the broker is refused. Payloads stay in the envelope: logs and spans hold ids.
"""
