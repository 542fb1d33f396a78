"""The reconciler sends again what the broker has lost, and reports what no sending can repair.

The room is the platform's. It keeps the promise that no message is lost, not even by a broker that comes back empty.

    settle ▶ is anything old and unsettled? ▶ look at the broker and at the workers ▶ send again what is in neither

It runs every minute, as a task. Killed at any line, or run twice at a time, it harms nothing: each message is sent
again by one conditional statement, and the inbox absorbs a copy that was not needed.
"""
