"""A machine's condition as a diagnosis: disk, memory, descriptors, clock, or that it stood still."""

from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, Text

WANTED: Final = _("a machine with room")
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


def well(health: Health) -> Text:
    """Return what is said of a machine that has room."""
    return health.said or _("disk, memory, descriptors and clock are as they should be")


def found(health: Health) -> Text:
    """Return what is short."""
    return health.said


def remedy(health: Health) -> tuple[Text, str]:
    """Return what mends it, and the command for that."""
    return _REMEDIES.get(health.condition, (_("Do what it says."), "uptime"))


def observations(_health: Health) -> Iterator[Diagnosis]:
    """Return what else the machine shows."""
    yield from ()
