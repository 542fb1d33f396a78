"""kombu's RabbitMQ transport: batches of confirms, a broker that is full, consumers that it ends, deadlines.

The room is the platform's. Leases, dead-lettering and the delivery limit are RabbitMQ's own; what is added keeps the
promise that no message is lost: a worker notices that its subscription has ended or is forgotten (``consumer_cancel``,
``renewal``), a queue of another declaration is named and can be emptied into a new one (``declarations``, ``shovel``).
"""
