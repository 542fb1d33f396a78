"""A health becomes diagnoses: first what the server does for the work, then what else was seen of it."""

from collections.abc import Iterator

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.servers import broker, database, machine, service
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status
from baton_messaging.health.resource import Resource
from baton_messaging.routing.ownership import platform_owner

_ROOMS = {"database": database, "broker": broker, "machine": machine}


def diagnose(health: Health) -> Iterator[Diagnosis]:
    """Return the diagnosis of the server's condition, and those of what its facts show."""
    room = _ROOMS.get(health.name, service)
    about = room.resource_of(health)
    if health.condition is Condition.OK:
        yield Diagnosis(about, room.what_of(health), Status.OK, room.well(health))
    elif health.condition is Condition.NOT_KNOWN:
        yield _not_known(health, about)
    else:
        yield room.trouble(health)
    yield from room.observations(health)


def _not_known(health: Health, about: Resource) -> Diagnosis:
    return Diagnosis(
        about,
        health.name,
        Status.UNKNOWN,
        format_lazy("{server} {said}", server=health.server, said=health.said),
        _("an answer"),
        _("Look whether that server is there and not overloaded, then ask again."),
        platform_owner(),
        command="python manage.py doctor",
        confidence=Confidence.OPEN,
    )
