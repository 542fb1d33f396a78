"""kombu's Redis transport, made to behave as a RabbitMQ quorum queue does. Needs the extra ``redis``.

The room is the platform's. It keeps the promises that no message is lost and that both brokers keep the same ones: a
delivery is at every moment in its queue or unacked by a worker (dequeue, unacked), the worker that holds it renews its
lease (lease, qos), what comes back too often is dead-lettered (delivery_limit), and a message has a queue also after
the server came back empty (routing).
"""

try:
    import redis  # noqa: F401 - asked for here, so that its absence is told in one sentence wherever it is met
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "The broker's URL is one of Redis, whose client is not installed. Install the extra `redis` of baton-messaging."
    ) from error
