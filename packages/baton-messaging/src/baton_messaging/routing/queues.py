"""A queue of the project's table is declared to the broker, and tasks are routed to it.

Invariant: a queue exists only if the project's table (``baton().queues``) names it; with
``task_create_missing_queues`` off a typo fails at once instead of filling a queue that no worker reads.
"""

from collections.abc import Iterable, Sequence

import kombu

from baton_messaging.conf import BadSetting, Queue, baton, checked_queues
from baton_messaging.errors import MessagingError

EXCHANGE = kombu.Exchange("tasks", type="direct", durable=True)
DEAD_LETTER_EXCHANGE = kombu.Exchange("dead_letters", type="direct", durable=True)
DEAD_LETTER_QUEUE = "dead_letters"
PACKAGE_PREFIX = "baton"  # of the names of Baton's own tasks, whatever the platform's queue is called
#: Returns of a dead letter to its queue. RabbitMQ 4 drops a message after 20 unless told otherwise, and 3.x refuses -1
#: for "never"; a collector that cannot write for a night, several times a second, stays below this.
DEAD_LETTER_DELIVERY_LIMIT = 1_000_000_000


class UnknownQueue(MessagingError, LookupError):
    """Say which queue was asked for, and which ones the table has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(
            f"Expected a queue of BATON['QUEUES'] ({', '.join(sorted(known))}), got {name!r}. Add it there."
        )


def queue_named(name: str) -> Queue:
    """Return the line of the table. Raises UnknownQueue."""
    table: dict[str, Queue] = {queue.name: queue for queue in baton().queues}
    try:
        return table[name]
    except KeyError:
        raise UnknownQueue(name, table) from None


def celery_queues(queues: Sequence[Queue], *, delivery_limit: int) -> list[kombu.Queue]:
    """Return the declarations for ``task_queues``: the table's queues and the dead-letter queue.

    The arguments are RabbitMQ's (quorum queue, at-least-once dead-lettering); on Redis baton_messaging.broker gives the
    same behaviour from the transport options. Source: RabbitMQ manual, "Quorum Queues" and "Dead Lettering".
    Raises BadSetting: a project's settings call it, before any check can speak.
    """
    table = checked_queues(queues)
    if DEAD_LETTER_QUEUE in {queue.name for queue in table}:
        raise BadSetting(
            f"BATON['QUEUES']: expected queues of apps, got {DEAD_LETTER_QUEUE!r}. Take it out: Baton declares its own."
        )
    arguments = {
        "x-queue-type": "quorum",
        "x-dead-letter-exchange": DEAD_LETTER_EXCHANGE.name,
        "x-dead-letter-routing-key": DEAD_LETTER_QUEUE,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",  # at-least-once dead-lettering demands it
        "x-delivery-limit": delivery_limit,
    }
    declared = [kombu.Queue(queue.name, EXCHANGE, routing_key=queue.name, queue_arguments=arguments) for queue in table]
    return [*declared, dead_letter_queue()]


def dead_letter_queue() -> kombu.Queue:
    """Return the declaration of the queue in which every message that the broker gives up on ends."""
    return kombu.Queue(
        DEAD_LETTER_QUEUE,
        DEAD_LETTER_EXCHANGE,
        routing_key=DEAD_LETTER_QUEUE,
        queue_arguments={"x-queue-type": "quorum", "x-delivery-limit": DEAD_LETTER_DELIVERY_LIMIT},
    )


def route_task(name: str, *_args: object, **_kwargs: object) -> dict[str, str] | None:
    """Route a task by the table of queues: Celery's ``task_routes`` hook.

    ``baton.<function>`` goes to the platform's queue, ``<app>.<function>`` to the queue of its app. Returns None, which
    is Celery's default routing, for an app without a queue and for the name that Celery makes of a module
    (``orders.tasks.send_report``): the plain tasks of a project that adopts Baton stay where its workers look for them.

    Consumers do not depend on it: ``send_bundle`` follows the table and refuses one whose app has no queue.
    Hazard: a plain task that was given the name ``<app>.<function>`` moves to its app's queue once the table has one;
    a route of the project that stands before this one keeps it.
    """
    app_label, _, function = name.partition(".")
    if app_label == PACKAGE_PREFIX:
        return {"queue": baton().platform_queue}
    is_of_table = "." not in function and app_label in {queue.name for queue in baton().queues}
    return {"queue": app_label} if is_of_table else None
