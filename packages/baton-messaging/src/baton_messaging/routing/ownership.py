"""The owner of a consumer is the owner of the queue that its messages travel through."""

from baton_messaging.conf import Queue, Team, baton
from baton_messaging.routing.queues import UnknownQueue, queue_named
from baton_messaging.routing.subscriptions import subscription_named


def queue_of(consumer: str) -> Queue:
    """Return the queue a consumer's messages go to. Raises UnknownQueue."""
    return queue_named(queue_name_of(consumer))


def queue_name_of(consumer: str) -> str:
    """Return the name of a consumer's queue; of an unknown one, what its name says."""
    subscription = subscription_named(consumer)
    return subscription.queue if subscription and subscription.queue else consumer.partition(".")[0]


def queue_or_platforms(consumer: str) -> Queue:
    """Return the consumer's queue; of an unknown one, the platform's, whose owner answers for what has none."""
    try:
        return queue_of(consumer)
    except UnknownQueue:
        return platform_queue()


def owner_of(consumer: str) -> Team:
    """Return the team that owns the consumer's queue; of an unknown one, the owner of the platform's queue."""
    return queue_or_platforms(consumer).owner


def platform_queue() -> Queue:
    """Return the queue of Baton's own tasks, which a project's default queue need not be."""
    return queue_named(baton().platform_queue)


def platform_owner() -> Team:
    """Return who answers for relay, broker, database and schedule: the owner of the platform's queue."""
    return platform_queue().owner
