"""The brokers: kombu's Redis transport made to behave as RabbitMQ's quorum queues do, and batched confirms for both."""
