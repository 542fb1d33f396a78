"""Question 4: is there a dead-letter route and an owner? Then a message that dies has a team, and is found."""

from collections.abc import Iterable
from typing import Any, Final

from celery import current_app
from django.core.checks import CheckMessage

from baton_messaging.checks.celery_values import declared_queues
from baton_messaging.checks.objections import objection
from baton_messaging.conf import Queue, baton
from baton_messaging.consumer import ConsumerTask, consumer_tasks
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.queues import DEAD_LETTER_EXCHANGE, DEAD_LETTER_QUEUE, UnknownQueue

#: Domains that belong to nobody (RFC 2606, RFC 6761): a mail to them helps no one.
NOBODYS_DOMAINS: Final = ("example.com", "example.net", "example.org", "example", "invalid", "test", "localhost")
_ACKNOWLEDGEMENT: Final = {
    "acks_late": True,
    "reject_on_worker_lost": True,
    "acks_on_failure": False,
    "acks_on_timeout": False,
}


def check_queues_of_consumers(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers whose queue has no line in the table, and so no owner."""
    return [
        objection("E401", f"{task.name}: {error}", hint="A line of BATON['QUEUES'] names queue and owner.")
        for task in consumer_tasks()
        for error in _queue_errors(task)
    ]


def check_dead_letter_routes(**_kwargs: Any) -> list[CheckMessage]:
    """Find queues from which a rejected message leads nowhere."""
    return [
        objection(
            "E402",
            f"Expected queue {queue.name} to lead to the dead letters, got no such route.",
            hint="Declare queues with celery_queues(), from the table in BATON['QUEUES'].",
        )
        for queue in baton().queues
        if not _has_route(queue)
    ]


def check_acknowledgement(**_kwargs: Any) -> list[CheckMessage]:
    """Find consumers whose message is acknowledged before its effect is certain: it would die unseen (F04)."""
    return [
        objection(
            "E403",
            f"{task.name}: expected {option}={expected}, got {getattr(task, option)}.",
            hint="Leave the option out: a message is acknowledged after the commit, and a failure is rejected.",
        )
        for task in consumer_tasks()
        for option, expected in _ACKNOWLEDGEMENT.items()
        if bool(getattr(task, option)) is not expected
    ]


def check_owner_addresses(**_kwargs: Any) -> list[CheckMessage]:
    """Find owners whom no mail can reach."""
    return [
        objection(
            "W404",
            f"Queue {queue.name}: expected an address at which somebody reads, got that of {queue.owner}.",
            hint="Name your own team in BATON['QUEUES'].",
        )
        for queue in baton().queues
        if _is_nobodys(queue.owner.email)
    ]


def _queue_errors(task: ConsumerTask) -> Iterable[UnknownQueue]:
    try:
        queue_of(task.name)
    except UnknownQueue as error:
        return [error]
    return []


def _has_route(queue: Queue) -> bool:
    declared = declared_queues(current_app)
    if queue.name not in declared:
        return True  # that is baton.E704
    arguments = declared[queue.name].queue_arguments or {}
    options: dict[str, Any] = current_app.conf.broker_transport_options
    is_on_redis_list = "queues" not in options or {queue.name, DEAD_LETTER_QUEUE} <= {*options["queues"]}
    return arguments.get("x-dead-letter-exchange") == DEAD_LETTER_EXCHANGE.name and is_on_redis_list


def _is_nobodys(address: str) -> bool:
    domain = address.rpartition("@")[2].lower()
    return not domain or any(domain == name or domain.endswith(f".{name}") for name in NOBODYS_DOMAINS)
