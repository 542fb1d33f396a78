"""A health becomes diagnoses: first what the server does for the work, then what else was seen of it."""

import socket
from collections.abc import Iterator
from typing import Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.servers import broker, database, machine, service
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.dependencies import resource_of_check
from baton_messaging.health.diagnosis import Diagnosis, Status, Text, finding, unanswered
from baton_messaging.health.resource import BROKER, Kind, Resource

_ROOMS: Final = {"database": database, "broker": broker, "machine": machine}
_WHAT: Final = {"database": _("database"), "broker": _("broker")}


def diagnose(health: Health) -> Iterator[Diagnosis]:
    """Return the diagnosis of the server's condition, and those of what its facts show."""
    room = _ROOMS.get(health.name, service)
    about = _about(health)
    what: Text = _WHAT.get(health.name) or (str(about) if about.kind is Kind.MACHINE else health.name)
    if health.condition is Condition.OK:
        yield Diagnosis(about, what, Status.OK, room.well(health))
    elif health.condition is Condition.NOT_KNOWN:
        said = format_lazy("{server} {said}", server=health.server, said=health.said)
        yield unanswered(about, health.name, found=said)
    else:
        remedy, command = room.remedy(health)
        # What a machine is short of need not stop what runs on it.
        stops_work = about.kind is not Kind.MACHINE
        yield finding(
            about,
            what,
            found=room.found(health),
            wanted=room.WANTED,
            remedy=remedy,
            command=command,
            stops_work=stops_work,
        )
    yield from room.observations(health)


def _about(health: Health) -> Resource:
    """Return the server; of machines the one of this host name, of the broker the one queue that alone is concerned."""
    about = resource_of_check(health.name)
    concerned = list(health.facts.get("concerns", ()))
    if about == BROKER and len(concerned) == 1:
        return Resource(Kind.QUEUE, str(concerned[0]))
    if about.kind is Kind.MACHINE:
        return Resource(Kind.MACHINE, str(health.facts.get("hostname") or health.server or socket.gethostname()))
    return about
