"""Policies of RabbitMQ are inferred from what they do: no client of AMQP is told of one, only its management API.

A message that expired before its time, and a queue that takes nothing though no length is declared: no declaration and
no sender of ours does that. *Source*. RabbitMQ manual, "Time-To-Live", "Queue Length Limit", "Parameters and Policies".
"""

import shlex
from collections.abc import Iterable
from typing import Any

from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.servers.broker import Address
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models.dead_letter import EXPIRED_BY_POLICY
from baton_messaging.routing.ownership import queue_name_of

_LENGTHS = ("x-max-length", "x-max-length-bytes")


def letting_expire(queues: Iterable[str]) -> Diagnosis:
    """Return the diagnosis of messages that died of a time to live which nobody here has set."""
    text = _("the broker let messages expire in queue {queues} before their time: a policy sets a time to live there")
    return _of_policy(
        queues, text, _("Take the policy away, or keep it off these queues; then replay what died of it.")
    )


def cause_of_expiry(consumer: str, error_class: str) -> Diagnosis | None:
    """Return the policy that a dead letter has died of, if it has."""
    return letting_expire([queue_name_of(consumer)]) if error_class == EXPIRED_BY_POLICY else None


def limiting(queues: Iterable[str]) -> Diagnosis:
    """Return the diagnosis of a queue that is full, though no length of it is declared."""
    text = _("the broker takes nothing more for queue {queues}, of which no length is declared: a policy limits it")
    return _of_policy(queues, text, _("Take the policy away or raise its limit, or give the queue more workers."))


def has_declared_length(queue: str) -> bool:
    """Tell whether the project itself limits the queue: then whoever consumes it does not keep up."""
    declared: Any = current_app.amqp.queues.get(queue)
    return any(name in (declared.queue_arguments or {}) for name in _LENGTHS) if declared else False


def _of_policy(queues: Iterable[str], found: Any, remedy: Text) -> Diagnosis:
    names = ", ".join(sorted(queues))
    return finding(
        Resource(Kind.SETTING, f"policies of {names}"),
        _("policies of the broker"),
        found=format_lazy(found, queues=names),
        wanted=_("queues as they are declared"),
        remedy=remedy,
        command=f"rabbitmqctl list_policies -p {shlex.quote(Address.current().vhost)}",
        confidence=Confidence.LIKELY,
    )
