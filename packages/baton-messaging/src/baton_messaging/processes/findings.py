"""Findings about single processes, from what their heartbeats say: only our own rows are read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, finding, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import first_few
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role
from baton_messaging.processes.silence import silent_processes
from baton_messaging.routing.ownership import owner_of_queue

#: What every process needs.
COMMON: Final = ("database", "broker")
#: A clock that is off by less hurts nothing here.
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
#: For how long a standstill that is over is worth telling: it explains what looks late.
STANDSTILL_MINUTES: Final = 10
#: A shorter one is told, and nothing is to be fixed: a busy machine, a snapshot.
MIN_STANDSTILL_SECONDS: Final = 30.0


def process_findings() -> list[Diagnosis]:
    """Return what heartbeats tell of processes that live, and that cannot say so. Raises the database's errors."""
    rows = list(Heartbeat.objects.order_by("name", "hostname", "pid"))
    fresh = [row for row in rows if row.is_fresh]
    return [*_cancelled(fresh), *_twins(fresh), *_clocks(fresh), *_standstills(fresh), *silent_processes(rows)]


def trouble_of(row: Heartbeat) -> dict[str, Any]:
    """Return what keeps a process from its work, as it says itself: what its loop has met before what it has asked."""
    troubles = [one for one in row.health if one["name"] in COMMON and not _health(one).does_the_work]
    return next(iter(sorted(troubles, key=lambda one: not one["facts"].get("met"))), {})


def _health(told: dict[str, Any]) -> Health:
    return Health(told["name"], Condition(told["condition"]))


def _cancelled(rows: Sequence[Heartbeat]) -> Iterator[Diagnosis]:
    for row in rows:
        if row.unconsumed_queues:
            names = {"process": row.name, "queues": ", ".join(row.unconsumed_queues)}
            yield finding(
                Resource(Kind.PROCESS, row.name),
                _("queues of the command line"),
                found=format_lazy(_("{process} no longer consumes {queues}: remote control said so"), **names),
                remedy=format_lazy(_("Restart {process}: it then consumes {queues} again."), **names),
                owner=owner_of_queue(row.unconsumed_queues[0]),
                command=f"celery -A {current_app.main} control add_consumer {row.unconsumed_queues[0]} -d {row.name}",
                stops_work=True,
            )


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
