"""A worker's main process: Celery's consumer, pool and request, with the ways closed by which a message gets lost.

The room is the platform's. It keeps the promise that no message is lost: what cannot be read is rejected to the dead
letters (``consumer``), what a child has is waited for (``in_flight``), what expired or was revoked is dead-lettered
(``request``), or counted if it is a plain task (``expiries``), what was killed leaves a note of its cause
(``interruptions``), and its child's end is noticed at once
(``pool``).
"""
