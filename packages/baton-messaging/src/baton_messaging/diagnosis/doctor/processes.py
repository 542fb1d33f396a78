"""Processes examined: does each role live, is each queue consumed, and if not, who was the last, and how did it end?

Each finding is about a role, a process or a queue, so that it stands under the database's or the broker's when these
are to blame: nothing is to be restarted that waits for something else.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Queue, baton
from baton_messaging.database.deadline import Deadline
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.doctor.examination import BROKER, DATABASE, DEADLINE_SECONDS, examines, or_well
from baton_messaging.health.broker_connection import broker_connection
from baton_messaging.health.diagnosis import Diagnosis, Text, finding, inferred, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role, Trouble
from baton_messaging.processes.broker_consumers import unknown_consumers
from baton_messaging.processes.comparison import wiring_differences
from baton_messaging.processes.findings import process_findings, trouble_of

#: Rows of workers that have ended, the latest first: one of each queue is among them, but after many restarts.
MAX_ENDED: Final = 100
#: Role, and what is wrong without it.
WANTED: Final = {
    Role.RELAY: _("nothing leaves the outbox"),
    Role.COLLECTOR: _("what the broker gives up on is on no list"),
    Role.BEAT: _("nothing is pruned, retried exports wait, no alert is mailed"),
}


@examines("consumers of the queues", needs=(DATABASE,), is_quick=True)
def examine_consumers() -> Iterator[Diagnosis]:
    """Find queues that no living worker consumes (F51), or whose workers have stopped to."""
    living, silent = _by_queue(Heartbeat.objects.workers())
    ended = list(Heartbeat.ended.workers().order_by("-ended_at")[:MAX_ENDED])
    for queue in baton().queues:
        last_ended = next((beat for beat in ended if queue.name in beat.queues), None)
        yield inferred(_consumed(queue, living[queue.name], silent[queue.name], last_ended))


def _by_queue(workers: Iterable[Heartbeat]) -> tuple[dict[str, list[Heartbeat]], dict[str, list[Heartbeat]]]:
    living: dict[str, list[Heartbeat]] = defaultdict(list)
    silent: dict[str, list[Heartbeat]] = defaultdict(list)
    for worker in workers:
        for name in worker.queues:
            (living if worker.is_fresh else silent)[name].append(worker)
    return living, silent


def _consumed(
    queue: Queue, living: Sequence[Heartbeat], silent: Sequence[Heartbeat], last_ended: Heartbeat | None
) -> Diagnosis:
    consuming = _names(beat for beat in living if beat.is_consuming)
    idle = [beat for beat in living if not beat.is_consuming]
    about, what = Resource(Kind.QUEUE, queue.name), format_lazy(_("workers of {queue}"), queue=queue.name)
    wanted = _("a worker that consumes it")
    if idle:
        waiting = all(map(trouble_of, idle))
        told = finding(
            about,
            what,
            found=format_lazy(
                _("{idle}: no work is taken; {consuming}"), idle=_told(idle), consuming=consuming or _("no other")
            ),
            wanted=wanted,
            remedy=_WAITS if waiting else format_lazy(_("Restart {names}."), names=_names(idle)),
            owner=queue.owner,
        )
        return replace(told, needs=(about, *_processes(idle)))
    return observed(
        bool(consuming),
        what,
        about=about,
        found=consuming or format_lazy(_("nobody consumes it; {last}"), last=_last(silent, last_ended)),
        wanted=wanted,
        remedy=_("Start a worker for it."),
        command=commands.worker(queue.name),
        owner=queue.owner,
    )


_WAITS: Final = _("Mend what is said there: it goes on by itself.")


def _told(idle: Iterable[Heartbeat]) -> str:
    """Name the processes, each with what it says of its servers."""
    return ", ".join(
        f"{beat.name} ({health['name']} {health['condition']}: {health['said']})"
        if (health := trouble_of(beat))
        else beat.name
        for beat in sorted(idle, key=lambda beat: beat.name)
    )


def _processes(beats: Iterable[Heartbeat]) -> list[Resource]:
    return [Resource(Kind.PROCESS, beat.name) for beat in beats]


def _last(silent: Sequence[Heartbeat], ended: Heartbeat | None) -> Any:
    """Return which worker was the last to consume a queue, and how it ended."""
    fell_silent = max(silent, key=lambda beat: beat.beaten_at, default=None)
    if ended and ended.ended_at and (fell_silent is None or ended.ended_at > fell_silent.beaten_at):
        age = (ended.looked_at - ended.ended_at).total_seconds()
        text = _("the last, {name}, ended {age} ago: {how}")
        return format_lazy(text, name=ended.name, age=duration(age), how=ended.ended_by or _("not known how"))
    if fell_silent is None:
        return _("no worker of it is known")
    text = _("the last, {name}, fell silent {age} ago: killed, or its machine is gone")
    return format_lazy(text, name=fell_silent.name, age=duration(fell_silent.age_seconds))


@examines("processes", needs=(DATABASE,), is_quick=True)
def examine_processes() -> Iterator[Diagnosis]:
    """Find roles that no living process has."""
    beats = list(Heartbeat.objects.exclude(role=Role.WORKER))
    for role, consequence in WANTED.items():
        ended = Heartbeat.ended.filter(role=role).order_by("-ended_at").first()
        yield inferred(_role(role, [beat for beat in beats if beat.role == role], consequence, ended))


def _role(role: Role, beats: Sequence[Heartbeat], consequence: Text, ended: Heartbeat | None) -> Diagnosis:
    living = [beat for beat in beats if beat.is_fresh]
    idle = [beat for beat in living if not beat.is_consuming and beat.trouble != Trouble.BROKER_FULL]
    about = Resource(Kind.ROLE, role)
    wanted = format_lazy(_("a heartbeat of each within {age}"), age=duration(baton().heartbeat_stale_seconds))
    if any(beat.trouble == Trouble.BROKER_FULL for beat in living):
        return finding(
            about,
            str(role),
            found=_("lives, but the broker takes nothing: it is short of memory or disk"),
            wanted=_("a broker that takes messages"),
            remedy=_("Give the broker memory or disk, or workers to empty its queues."),
        )
    if idle:  # its loop turns: it says so itself that it waits
        told = finding(
            about,
            str(role),
            found=format_lazy(_("lives, and waits for a server: {names}"), names=_told(idle)),
            wanted=wanted,
            remedy=_WAITS if any(map(trouble_of, idle)) else _("See in its log what it waits for, and mend that."),
        )
        return replace(told, needs=tuple(_processes(idle)))
    return observed(
        bool(living),
        str(role),
        about=about,
        found=_names(living) or _absence(beats, consequence, ended),
        wanted=wanted,
        remedy=format_lazy(_("Mend what ended it, which its log tells, and start one: {role}."), role=role.label)
        if ended
        else format_lazy(_("Start one: {role}."), role=role.label),
        command=_command(role),
    )


def _absence(silent: Sequence[Heartbeat], consequence: Text, ended: Heartbeat | None) -> Text:
    if not silent and ended is None:
        return format_lazy(_("no heartbeat: {consequence}"), consequence=consequence)
    return format_lazy(_("no heartbeat: {consequence}; {last}"), consequence=consequence, last=_last(silent, ended))


def _command(role: Role) -> str:
    return {Role.RELAY: commands.RELAY, Role.COLLECTOR: commands.COLLECTOR}.get(role) or commands.beat()


@examines("what heartbeats tell", needs=(DATABASE,), is_quick=True)
def examine_heartbeats() -> list[Diagnosis]:
    """Find clocks, standstills, names used twice, and queues given up, as the processes themselves tell."""
    well = _("clocks agree, nothing stood still, no queue was given up")
    return or_well(process_findings(), _("what heartbeats tell"), found=well)


@examines("wiring", needs=(DATABASE,))
def examine_wiring() -> list[Diagnosis]:
    """Find processes that use another broker, key, storage or release than the others."""
    well = _("one broker, key, storage and release for all processes")
    return or_well(wiring_differences(), _("wiring"), found=well)


@examines("processes at the broker", needs=(DATABASE, BROKER))
def examine_strangers() -> list[Diagnosis]:
    """Find consumers that have no heartbeat here, and workers that the broker does not know."""
    with broker_connection(Deadline.after(DEADLINE_SECONDS)) as connection:
        found = unknown_consumers(connection, DEADLINE_SECONDS / 2)
    return or_well(found, _("processes at the broker"), found=_("all are known here"))


def _names(beats: Iterable[Heartbeat]) -> str:
    return ", ".join(sorted(beat.name for beat in beats))
