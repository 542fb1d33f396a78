"""Routing knows the consumers of each event, the queue of each consumer, and the owner of each queue.

The room is the platform's; the table of queues and owners is the project's. It keeps the promise that each message has
an owner at every moment: a consumer's messages belong to the owner of its queue. ``discovery`` imports what the apps
add, ``subscriptions`` knows the consumers, ``queues`` and ``ownership`` read the table, ``send`` hands a bundle over.
"""
