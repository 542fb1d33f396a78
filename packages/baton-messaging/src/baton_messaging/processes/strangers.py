"""Strangers at the broker as diagnoses: processes unknown here, workers unknown there, consumers miscounted."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Confidence, Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import Heartbeat
from baton_messaging.processes.introduction import database_address


@dataclass(frozen=True)
class Stranger:
    """A process at our broker that has no heartbeat in our database."""

    role: str
    name: str
    pid: int | None = None
    hostname: str = ""
    address: str = ""
    database: str = ""
    queues: tuple[str, ...] = ()


def foreign_client(one: Stranger) -> Diagnosis:
    """Return the diagnosis of a client that is no process of Baton's: it takes from lists, of which is not told."""
    names = {"client": one.name, "where": _where(one)}
    return finding(
        Resource(Kind.WIRING, one.name),
        _("clients of the broker that are not known here"),
        found=format_lazy(_("client {client} ({where}) takes messages and is no process of this project"), **names),
        wanted=_("each with a heartbeat in this database"),
        remedy=format_lazy(_("Find {client} ({where}), and stop it or give it a database of its own."), **names),
        confidence=Confidence.LIKELY,
        stops_work=True,
        command=f"redis-cli CLIENT KILL ADDR {one.address}",
    )


def unknown_here(one: Stranger) -> Diagnosis:
    """Return the diagnosis of a process at the broker whose heartbeat is not in our database."""
    names = {
        "process": f"{one.role} {one.name}".strip(),
        "where": _where(one),
        "queues": ", ".join(one.queues) or "?",
        "database": one.database or "?",
        "ours": database_address(),
    }
    is_of_this_database = one.database == names["ours"]  # then its work lands here, whatever keeps it from beating
    if is_of_this_database:
        found = _("{process} ({where}) is at the broker, queues: {queues}; no heartbeat of it arrives in its database")
        remedy = _("Look into the log of {process} ({where}), and restart it.")
    else:
        found = _("{process} ({where}) is at this broker, queues: {queues}; its database is {database}, not {ours}")
        remedy = _("Find {process} ({where}) and stop it, or give it this database ({ours}) and restart it.")
    return finding(
        Resource(Kind.WIRING, ", ".join((one.name, *one.queues))),  # triage asks whether it takes from a queue
        _("processes at the broker that are not known here"),
        found=format_lazy(found, **names),
        wanted=_("each with a heartbeat in this database"),
        remedy=format_lazy(remedy, **names),
        confidence=Confidence.SURE if one.pid and not is_of_this_database else Confidence.LIKELY,
        stops_work=not is_of_this_database,
    )


def _where(one: Stranger) -> str:
    parts = [f"pid {one.pid}" if one.pid else "", one.hostname, one.address]
    return ", ".join(part for part in parts if part) or "?"


def unknown_there(row: Heartbeat) -> Diagnosis:
    """Return the diagnosis of a process that beats here, and has no connection to this broker."""
    return finding(
        Resource(Kind.WIRING, row.name),
        _("processes that the broker does not know"),
        found=format_lazy(_("{process} says that it works, and has no connection to this broker"), process=row.name),
        wanted=_("a connection of each"),
        remedy=format_lazy(_("Look which broker {process} uses, and restart it."), process=row.name),
        confidence=Confidence.LIKELY,
        since=row.started_at,
        stops_work=True,
    )


def miscounted(queue: str, count: int, expected: Sequence[Heartbeat]) -> Diagnosis:
    """Return the diagnosis of a queue that has more or fewer consumers than workers here."""
    names = {"queue": queue, "count": count, "workers": ", ".join(row.name for row in expected) or "-"}
    return finding(
        Resource(Kind.WIRING, queue),
        _("consumers of a queue"),
        found=format_lazy(_("{queue} has {count} consumers at the broker; known here: {workers}"), **names),
        wanted=_("as many as there are workers here"),
        remedy=format_lazy(
            _(
                "See who consumes {queue}, or holds messages of it without consuming (a console), and close the "
                "connection of whoever is none of these: the broker requeues what it holds."
            ),
            **names,
        ),
        confidence=Confidence.LIKELY,
        stops_work=True,
        command=(
            "rabbitmqctl list_consumers queue_name channel_pid consumer_tag; "
            "rabbitmqctl list_channels connection user consumer_count messages_unacknowledged"
        ),
    )
