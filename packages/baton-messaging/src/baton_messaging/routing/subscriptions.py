"""Subscriptions tell which consumers an event has: ``@consumer`` adds one as each app's tasks.py is imported.

The relay asks at the moment of sending, so a consumer added by a deploy gets what was published before it.
"""

from dataclasses import dataclass

from celery import current_app

from baton_messaging.routing.discovery import Registry, discover


@dataclass(frozen=True)
class Subscription:
    """One consumer of one event."""

    consumer: str
    event_name: str
    bundle_size: int
    max_attempts: int
    queue: str | None
    depends_on: tuple[str, ...] = ()  # names of health checks


_subscriptions: Registry[str, Subscription] = Registry("tasks")  # by the consumer's name


def subscribe(subscription: Subscription) -> None:
    """Register a consumer. Raises ValueError when two functions would share one task name."""
    _subscriptions.add_unique(subscription.consumer, subscription)


def subscriptions_of(event_name: str) -> list[Subscription]:
    """Return the consumers of an event, in name order."""
    return sorted(
        (known for known in _subscriptions.all().values() if known.event_name == event_name),
        key=lambda known: known.consumer,
    )


def subscription_named(consumer: str) -> Subscription | None:
    """Return a consumer's subscription, or None when this release has no such consumer."""
    return _subscriptions.get(consumer)


def event_of(consumer: str) -> str:
    """Return the name of the event that a consumer takes; empty when this release has no such consumer."""
    subscription = subscription_named(consumer)
    return subscription.event_name if subscription else ""


def is_registered(task: str) -> bool:
    """Tell whether this release has a task of that name, consumer or not."""
    import_consumers()
    return task in current_app.tasks


def all_consumers() -> list[str]:
    """Return the names of all consumers."""
    return sorted(_subscriptions.all())


def import_consumers() -> None:
    """Import the tasks.py of every app, once."""
    discover("tasks")  # Celery's import_default_modules() would run the system checks, of which one asks for this
