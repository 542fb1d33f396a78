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


def owner_at(consumer: str, queue: str) -> Team:
    """Return the owner of a consumer; of one that is not known here, the owner of the queue that it was found in."""
    if subscription_named(consumer) is None and any(known.name == queue for known in baton().queues):
        return owner_of_queue(queue)
    return owner_of(consumer)


def owner_as_kept(consumer: str, kept: str) -> Team:
    """Return the owner of a dead letter: of a consumer that is not known here, the one that was kept with it."""
    return owner_of(consumer) if subscription_named(consumer) or not kept else team_named(kept)


def team_named(text: str) -> Team:
    """Return the team of "Name <address>", as a dead letter keeps it: its queue may be in no table any more."""
    name, _bracket, address = text.rstrip(">").partition(" <")
    return Team(name, address) if address else platform_owner()


def owner_of_queue(name: str) -> Team:
    """Return the team of a queue; of one that is not declared, the owner of the platform's queue."""
    return next((queue.owner for queue in baton().queues if queue.name == name), platform_owner())


def platform_queue() -> Queue:
    """Return the queue of Baton's own tasks, which a project's default queue need not be."""
    return queue_named(baton().platform_queue)


def platform_owner() -> Team:
    """Return who answers for relay, broker, database and schedule: the owner of the platform's queue."""
    return platform_queue().owner
