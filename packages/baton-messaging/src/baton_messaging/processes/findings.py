"""Findings about single processes, from what their heartbeats say: only our own rows are read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Team, baton
from baton_messaging.health.diagnosis import Diagnosis, finding, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import first_few
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role
from baton_messaging.routing.ownership import platform_owner

#: A clock that is off by less hurts nothing here.
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
#: For how long a standstill that is over is worth telling: it explains what looks late.
STANDSTILL_MINUTES: Final = 10
#: A shorter one is told, and nothing is to be mended: a busy machine, a snapshot.
MIN_STANDSTILL_SECONDS: Final = 30.0


def process_findings() -> list[Diagnosis]:
    """Return what the heartbeats of living processes tell. Raises the database's errors."""
    rows = list(Heartbeat.objects.fresh().order_by("name", "hostname", "pid"))
    return [*_cancelled(rows), *_twins(rows), *_clocks(rows), *_standstills(rows)]


def last_ended(queue: str) -> Heartbeat | None:
    """Return the last worker of a queue that ended, when no worker of it runs: ``ended_by`` says how it did.

    Killed ones have said nothing: their row is among those that live, and old.
    """
    return Heartbeat.ended.workers().filter(queues__contains=[queue]).order_by("-ended_at").first()


def _cancelled(rows: Sequence[Heartbeat]) -> Iterator[Diagnosis]:
    for row in rows:
        if row.unconsumed_queues:
            names = {"process": row.name, "queues": ", ".join(row.unconsumed_queues)}
            yield finding(
                Resource(Kind.PROCESS, row.name),
                _("queues of the command line"),
                found=format_lazy(_("{process} no longer consumes {queues}: remote control said so"), **names),
                remedy=format_lazy(_("Restart {process}: it then consumes {queues} again."), **names),
                owner=_owner_of(row.unconsumed_queues[0]),
                command=f"celery -A {current_app.main} control add_consumer {row.unconsumed_queues[0]} -d {row.name}",
                stops_work=True,
            )


def _owner_of(queue: str) -> Team:
    """Return whose the workers of a queue are; of a queue that is not declared, the platform's."""
    return next((one.owner for one in baton().queues if one.name == queue), platform_owner())


def _twins(rows: Sequence[Heartbeat]) -> Iterator[Diagnosis]:
    """Of two workers with one name, remote control and Flower see one."""
    by_name: dict[str, list[Heartbeat]] = defaultdict(list)
    for row in rows:
        if row.role == Role.WORKER:
            by_name[row.name].append(row)
    for name, twins in by_name.items():
        if len(twins) > 1:
            names = {"name": name, "processes": ", ".join(f"pid {row.pid} on {row.hostname}" for row in twins)}
            yield finding(
                Resource(Kind.PROCESS, name),
                _("names of the workers"),
                found=format_lazy(_("{name} is the name of several workers: {processes}"), **names),
                remedy=format_lazy(_("Stop all but one, or start each with a name of its own (-n)."), **names),
            )


def _clocks(rows: Sequence[Heartbeat]) -> Iterator[Diagnosis]:
    """Name the processes, too: containers of one name may stand on machines of different clocks."""
    wrong: dict[str, list[Heartbeat]] = defaultdict(list)
    for row in rows:
        if abs(row.clock_offset_seconds or 0.0) > MAX_CLOCK_OFFSET_SECONDS:
            wrong[row.hostname].append(row)
    for hostname, off in sorted(wrong.items()):
        seconds = max((row.clock_offset_seconds or 0.0 for row in off), key=abs)
        processes = first_few((row.name for row in off), at_most=3)
        names = {"machine": f"{hostname} ({processes})", "seconds": f"{abs(seconds):.1f}"}
        slow = _("The clock of {machine} is {seconds} s behind the database's")
        fast = _("The clock of {machine} is {seconds} s ahead of the database's")
        yield finding(
            Resource(Kind.MACHINE, hostname),
            _("clocks of the machines"),
            found=format_lazy(slow if seconds > 0 else fast, **names),
            remedy=_("Let a time service (chrony, systemd-timesyncd) set the clocks of both machines."),
        )


def _standstills(rows: Sequence[Heartbeat]) -> Iterator[Diagnosis]:
    """Name a machine, not its processes: they stood still together, or one of them was stopped alone."""
    by_host: dict[str, list[Heartbeat]] = defaultdict(list)
    for row in rows:
        recent = row.stood_still_at and row.looked_at - row.stood_still_at < timedelta(minutes=STANDSTILL_MINUTES)
        if recent and row.stood_still_seconds:
            by_host[row.hostname].append(row)
    for hostname, stood in sorted(by_host.items()):
        longest = max(stood, key=lambda row: row.stood_still_seconds or 0)
        names = {
            "machine": hostname,
            "seconds": f"{longest.stood_still_seconds:.0f}",
            "processes": ", ".join(row.name for row in stood),
        }
        yield observed(
            (longest.stood_still_seconds or 0) < MIN_STANDSTILL_SECONDS,
            _("machines that stood still"),
            about=Resource(Kind.MACHINE, hostname),
            found=format_lazy(_("On {machine} nothing ran for {seconds} s: {processes}"), **names),
            wanted=_("processes that run all the time"),
            remedy=_("See why: a suspended machine, SIGSTOP, too little processor time. No limit counts that time."),
            since=longest.stood_still_at,
        )
