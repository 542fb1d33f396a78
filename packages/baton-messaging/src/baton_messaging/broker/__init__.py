"""The brokers: kombu's transports for Redis and RabbitMQ, made to keep the same promises, and what is asked of both.

The room is the platform's, and could be a distribution of its own: it imports nothing of the rest. It keeps the promise
that Redis, Valkey and RabbitMQ behave alike: dead-lettering, a delivery limit, confirms, and no message lost on the way
to a worker. ``options`` and ``transports`` set a project up; ``inspect`` counts and finds what is in the queues.
"""
