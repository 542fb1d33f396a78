"""Processes are compared by what they are wired to: which of them differs from the others, in what, and since when.

Their heartbeats are in our database. One that writes to another database is not among them: the broker's own list
shows it (broker_consumers.py). A command in a shell is compared, too: with another broker it sees other queues.
"""

import os
import socket
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from celery import current_app
from django.db import connection
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.database.deadline import Deadline
from baton_messaging.health.broker_connection import broker_connection
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import first_few
from baton_messaging.processes import wiring
from baton_messaging.processes.wired import MAIL, Difference, Wired, differences, wired_processes

#: Of the process that asks, and has no heartbeat.
ASKER: Final = "asker"
ANSWER_SECONDS: Final = 1.0
#: Through these messages pass: wired otherwise, they lose them for the others.
_CARRIERS: Final = ("worker", "relay", "collector", "beat")

_WHAT: Final[dict[str, Any]] = {
    "broker": _("one broker for all processes"),
    "keys": _("one signing key for all processes"),
    "storage": _("one storage for all processes"),
    "mail": _("one mail server and sender for all processes"),
    "release": _("one release in all processes"),
}
_FOUND: Final[dict[str, Any]] = {
    "broker": _("{odd}: broker {odd_value}; {usual}: broker {usual_value}"),
    "keys": _("{odd}: signs with key {odd_value}; {usual}: with key {usual_value}. Neither takes what the other signs"),
    "storage": _("{odd}: storage {odd_value}; {usual}: storage {usual_value}"),
    "mail": _("{odd} hands its mails in otherwise: {odd_value}; {usual}: {usual_value}"),
    "release": _("{odd}: {odd_value}; {usual}: {usual_value}"),
}
_REMEDY: Final[dict[str, Any]] = {
    "broker": _("Give {odd} the same CELERY_BROKER_URL as {usual} ({usual_value}), and restart it."),
    "keys": _("Give {odd} the same DJANGO_SECRET_KEY as {usual}, and restart it."),
    "storage": _("Give {odd} the same folder or bucket as {usual} (BATON_STATE_DIR, for a folder), and restart it."),
    "mail": _(
        "Give {odd} the same EMAIL_URL and sender as {usual}, and restart it; then send again what it has sent since."
    ),
    "release": _("Restart {odd} with the release of {usual}: {usual_value}."),
}


def wiring_differences() -> list[Diagnosis]:
    """Return what differs, each with the processes' names. Raises the database's errors."""
    with connection.cursor() as cursor:
        processes = wired_processes(cursor)
    return [diagnosis_of(one) for one in differences([*processes, *_asker(processes)])]


def diagnosis_of(difference: Difference) -> Diagnosis:
    """Return what one difference means, and what mends it. Wiring is the platform's."""
    aspect = difference.aspect
    names = {
        "odd": first_few(one.name for one in difference.odd),
        "odd_value": difference.odd_value,
        "usual": first_few(one.name for one in difference.usual),
        "usual_value": difference.usual_value,
    }
    carries = any(one.role in _CARRIERS for one in difference.odd)
    told = finding(
        Resource(Kind.WIRING, names["odd"]),
        _WHAT[aspect],
        found=format_lazy(_FOUND[aspect], **names),
        wanted=_("the same everywhere"),
        remedy=format_lazy(_REMEDY[aspect], **names),
        # Which of two that are equally many is right, nobody has said.
        confidence=Confidence.LIKELY if difference.is_tie else Confidence.SURE,
        since=difference.since,
        stops_work=carries and aspect in ("broker", "keys") and not difference.is_rollout,
    )
    told = replace(told, concerns=(Resource(Kind.SERVICE, MAIL),) if aspect == MAIL else ())
    return replace(told, status=Status.OK) if difference.is_rollout else told


def _asker(processes: list[Wired]) -> list[Wired]:
    """Return the process that asks, unless it has a heartbeat of its own. Its broker is asked only if it may differ."""
    hostname, pid = socket.gethostname(), os.getpid()
    if any((one.hostname, one.pid) == (hostname, pid) for one in processes):
        return []
    now = timezone.now()
    found = {"keys": wiring.keys(), "broker": _broker_of_asker(processes)}
    return [Wired(f"{ASKER}@{hostname}:{pid}", ASKER, hostname, pid, now, now, now + timedelta(seconds=1), found, now)]


def _broker_of_asker(processes: list[Wired]) -> dict[str, str]:
    with current_app.connection_for_read() as named:
        address = wiring.broker_address(named)
    known = next((one for one in processes if one.says("broker", "address") == address), None)
    if known:
        found: dict[str, str] = known.says("broker")
        return found
    try:
        with broker_connection(Deadline.after(ANSWER_SECONDS)) as broker:
            return wiring.broker(broker)
    except (*BROKER_ERRORS, TimeoutError):
        return {"address": address, "id": ""}
