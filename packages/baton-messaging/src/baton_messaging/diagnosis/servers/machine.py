"""A machine's condition as a diagnosis: disk, memory, descriptors, clock, or that it stood still."""

import socket
from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, Status, Text
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing.ownership import platform_owner

_REMEDIES: Final = {
    Condition.FULL: (
        _("Make room: free disk or memory, or raise the limit that it names."),
        "df -h; free -m; ulimit -n",
    ),
    Condition.REFUSES: (_("Find out what suspended it or takes its processor: a snapshot, a neighbour."), "uptime"),
    Condition.DIFFERENT: (
        _("Let a time service (chrony, systemd-timesyncd) set its clock."),
        "timedatectl set-ntp true; timedatectl",
    ),
}


def resource_of(health: Health) -> Resource:
    """Return what the diagnoses are about: one machine of several, by its host name."""
    return Resource(Kind.MACHINE, str(health.facts.get("hostname") or health.server or socket.gethostname()))


def what_of(health: Health) -> Text:
    """Return the name of the question."""
    return str(resource_of(health))


def well(health: Health) -> Text:
    """Return what is said of a machine that has room."""
    return health.said or _("disk, memory, descriptors and clock are as they should be")


def trouble(health: Health) -> Diagnosis:
    """Return what is short, and what mends it. What a machine is short of need not stop what runs on it."""
    remedy, command = _REMEDIES.get(health.condition, (_("Do what it says."), "uptime"))
    return Diagnosis(
        resource_of(health),
        what_of(health),
        Status.FINDING,
        health.said,
        _("a machine with room"),
        remedy,
        platform_owner(),
        command=command,
    )


def observations(_health: Health) -> Iterator[Diagnosis]:
    """Return what else the machine shows."""
    yield from ()
