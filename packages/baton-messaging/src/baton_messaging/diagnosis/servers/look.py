"""A look at the servers: by this process, now, and by each process that works, as its heartbeat has it.

What the processes at work see counts before what a shell sees: a mail server that this machine reaches is of no use
where the worker's machine does not. The answers of processes are some seconds, of services up to some minutes old.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status, Text
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import CONDITIONS, duration, first_few
from baton_messaging.models import Heartbeat
from baton_messaging.processes.findings import COMMON

#: Seconds after which what a process has seen may have passed.
MAX_CERTAIN_AGE_SECONDS: Final = 60.0
#: The same of database and broker, which a process in trouble looks at every five seconds: longer, and it has passed.
MAX_COMMON_AGE_SECONDS: Final = 12.0
#: Where each is told which server it works with.
_SETTINGS: Final = {"database": "DATABASE_URL", "broker": "CELERY_BROKER_URL"}
#: What is different on each host.
MACHINE: Final = "machine"


@dataclass(frozen=True)
class Seen:
    """What one process has seen of a server, so many seconds ago."""

    process: str
    hostname: str
    health: Health
    age_seconds: float

    @property
    def is_met(self) -> bool:
        """Tell whether its own work has met it: no check has asked."""
        return bool(self.health.facts.get("met"))


def seen_by_processes() -> dict[str, list[Seen]]:
    """Return what the living processes have seen, by the name of the check. One query. Raises the database's errors."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for beat in Heartbeat.objects.fresh().exclude(health=[]).order_by("name"):
        for told in beat.health:
            health = _health(told)
            age = (beat.looked_at - health.checked_at).total_seconds() if health.checked_at else 0.0
            found[health.name].append(Seen(beat.name, beat.hostname, health, max(0.0, age)))
    return found


def compared(own: Iterable[Health], seen: Mapping[str, list[Seen]]) -> Iterator[Diagnosis]:
    """Return the diagnoses of what this process sees, and of what the others see otherwise."""
    healths = {health.name: health for health in own}
    for name in dict.fromkeys((*healths, *seen)):
        health = healths.get(name)
        troubled = [one for one in seen.get(name, ()) if not one.health.does_the_work]
        if name == MACHINE:
            yield from diagnose(health) if health else ()
            yield from _machines(troubled)
        elif health is not None and (not health.does_the_work or not troubled):
            yield from diagnose(health)
        elif name in COMMON and health is not None and health.condition is Condition.OK:
            recent = [one for one in troubled if one.age_seconds < MAX_COMMON_AGE_SECONDS]
            if _are_all(recent, seen[name]):
                yield from _at_work(recent, health)
            else:
                yield from diagnose(health)
                yield from (_cut_off(one) for one in _one_each(recent))
        else:  # a service, or what this process could not find out
            yield from _at_work(troubled, health)


def _are_all(troubled: list[Seen], seen: list[Seen]) -> bool:
    """Tell whether each of several processes is in trouble, whatever this one sees."""
    names = {one.process for one in troubled}
    return len(names) > 1 and names == {one.process for one in seen}


def _one_each(troubled: list[Seen]) -> Iterator[Seen]:
    """Return what each process says first: what its own work has met."""
    for name in dict.fromkeys(one.process for one in troubled):
        yield min((one for one in troubled if one.process == name), key=lambda one: not one.is_met)


def _machines(troubled: list[Seen]) -> Iterator[Diagnosis]:
    """Return what each machine lacks, as its processes see it: file descriptors are each process's own."""
    for hostname in dict.fromkeys(one.hostname for one in troubled):
        mine = [one for one in troubled if one.hostname == hostname]
        for diagnosis in _at_work([one for one in mine if not one.is_met], None):
            yield replace(diagnosis, about=Resource(Kind.MACHINE, hostname), what=f"machine {hostname}")
        for one in mine:
            for diagnosis in _at_work([one] if one.is_met else [], None):  # it keeps this process from its work
                yield replace(diagnosis, about=Resource(Kind.PROCESS, one.process), what=one.process, stops_work=True)


def _at_work(troubled: list[Seen], own: Health | None) -> Iterator[Diagnosis]:
    """Return the diagnosis of a service that fails where the work is."""
    if not troubled:
        return
    latest = min(troubled, key=lambda one: one.age_seconds)
    is_fresh = latest.age_seconds < MAX_CERTAIN_AGE_SECONDS
    for diagnosis in diagnose(latest.health):
        found = format_lazy(
            _("as {processes} sees it, {age} ago: {found}"),
            processes=first_few((one.process for one in troubled), at_most=3),
            age=duration(latest.age_seconds),
            found=diagnosis.found,
        )
        if own is not None:
            here = format_lazy(_("as this process sees it: {condition}"), condition=CONDITIONS[own.condition])
            found = format_lazy("{found}; {here}", found=found, here=here)
        confidence = diagnosis.confidence if is_fresh else Confidence.LIKELY
        yield replace(diagnosis, found=found, confidence=confidence, since=latest.health.checked_at)


def _cut_off(one: Seen) -> Diagnosis:
    """Return the diagnosis of a process that alone does not reach what all others do."""
    (diagnosis, *_others) = diagnose(one.health)
    if one.health.condition is Condition.AWAY:  # it is not: others reach it
        diagnosis = replace(diagnosis, remedy=_way_of(one), command="")
    found = _("{process} saw {age} ago: {found}; other processes do not")
    return replace(
        diagnosis,
        about=Resource(Kind.PROCESS, one.process),
        status=Status.FINDING,
        found=format_lazy(found, process=one.process, age=duration(one.age_seconds), found=diagnosis.found),
        confidence=Confidence.LIKELY,
        since=one.health.checked_at,
    )


def _way_of(one: Seen) -> Text:
    remedy = _(
        "Correct what {process} is given, {setting}, and the way from its machine to the server; then restart it."
    )
    return format_lazy(remedy, process=one.process, setting=_SETTINGS[one.health.name])


def _health(told: Mapping[str, Any]) -> Health:
    """Read what Health.as_dict() wrote."""
    at = told.get("checked_at")
    return Health(
        name=str(told["name"]),
        condition=Condition(told["condition"]),
        said=str(told.get("said", "")),
        server=str(told.get("server", "")),
        seconds=told.get("seconds"),
        checked_at=datetime.fromisoformat(at) if at else None,
        facts=told.get("facts") or {},
    )
