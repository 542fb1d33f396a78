"""Dependencies of consumers as resources: what ``causes.fold`` follows to tell a cause from its victims.

A consumer needs its queue, and what it names itself (``depends_on``) by the names of health checks.
"""

from collections.abc import Iterable
from typing import Final

from baton_messaging.health.resource import BROKER, DATABASE, Kind, Resource
from baton_messaging.routing.ownership import queue_name_of
from baton_messaging.routing.subscriptions import all_consumers, subscription_named

_ONLY_ONE: Final = {"database": DATABASE, "broker": BROKER, "machine": Resource(Kind.MACHINE)}


def resource_of_check(name: str) -> Resource:
    """Return what a health check is about: a service of that name, unless it is one of the ground that all stand on.

    >>> str(resource_of_check("mail")), str(resource_of_check("broker"))
    ('service mail', 'broker')
    """
    return _ONLY_ONE.get(name, Resource(Kind.SERVICE, name))


def needs_of_consumers(consumers: Iterable[str] | None = None) -> dict[Resource, list[Resource]]:
    """Return each consumer (all, if None) with the queue of its messages, and the services it depends on."""
    return {
        Resource(Kind.CONSUMER, consumer): [
            Resource(Kind.QUEUE, queue_name_of(consumer)),
            *(resource_of_check(name) for name in checks_of(consumer)),
        ]
        for consumer in (all_consumers() if consumers is None else consumers)
    }


def checks_of(consumer: str) -> tuple[str, ...]:
    """Return the names of the health checks that a consumer depends on; of an unknown one, none."""
    subscription = subscription_named(consumer)
    return subscription.depends_on if subscription else ()
