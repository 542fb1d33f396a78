"""Mail, storage, and what else an app works with: its condition as a diagnosis. The platform runs these servers."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.certificates import WARN_DAYS
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration

WANTED: Final = _("a server that does what the work needs")
_FOUND: Final[Mapping[Condition, Any]] = {
    Condition.AWAY: _("{name} does not answer"),
    Condition.REFUSES: _("{name} refuses"),
    Condition.READ_ONLY: _("{name} takes no writes"),
    Condition.FULL: _("{name} is full"),
    Condition.NOT_PERMITTED: _("{name} does not let us in"),
    Condition.DIFFERENT: _("{name} is not as this project expects it"),
}
_REMEDIES: Final[Mapping[Condition, Text]] = {
    Condition.AWAY: _("Bring it back, or correct its address in the settings. It is tried again by itself."),
    Condition.REFUSES: _("Ask those who run it; what needs it is tried again by itself."),
    Condition.READ_ONLY: _("Let the settings name one that takes writes, or mount it writable."),
    Condition.FULL: _("Make room, or raise its quota."),
    Condition.NOT_PERMITTED: _("Correct login, key or rights in the settings, or have them given back."),
    Condition.DIFFERENT: _("Compare its settings here with what it is."),
}
_IN_A_FOLDER: Final = _("Look at {folder}: is its volume mounted there, is it a folder, and can it be written?")
#: The settings of what Django itself knows.
_SETTINGS: Final = {"mail": "MAILERS, EMAIL_… (EMAIL_URL)", "network": "/etc/resolv.conf"}


def well(health: Health) -> Text:
    """Return what is said of a server that does the work."""
    return format_lazy(
        _("{server} does the work, in {age}"), server=health.server or health.name, age=duration(health.seconds)
    )


def found(health: Health) -> Text:
    """Return what it says."""
    words = ": ".join(part for part in (health.server, health.said) if part)
    text = format_lazy(_FOUND[health.condition], name=health.name)
    return format_lazy("{found} ({words})", found=text, words=words)


def remedy(health: Health) -> tuple[Text, str]:
    """Return what is to be done, and the command for that if the check knows one."""
    text: Text = _REMEDIES[health.condition]
    if health.server.startswith("/") and health.condition in (Condition.DIFFERENT, Condition.READ_ONLY, Condition.AWAY):
        text = format_lazy(_IN_A_FOLDER, folder=health.server)
    if "certificate" in health.said:
        text = _("Renew its certificate, or let this machine trust the one who signed it.")
    if setting := _SETTINGS.get(health.name):
        text = format_lazy("{remedy} ({setting})", remedy=text, setting=setting)
    return text, str(health.facts.get("command") or "")


def observations(health: Health) -> Iterator[Diagnosis]:
    """Return a warning before a certificate of the server, or of one that the check has spoken to, ends."""
    told = {**(health.facts.get("certificates") or {}), health.server or health.name: health.facts.get("certificate")}
    for server, certificate in told.items():
        if certificate and certificate["days_left"] < WARN_DAYS:
            yield _ending(server, certificate)


def _ending(server: str, certificate: Mapping[str, Any]) -> Diagnosis:
    ends_at = datetime.fromisoformat(certificate["ends_at"])
    return finding(
        Resource(Kind.SETTING, f"certificate of {server}"),
        format_lazy(_("certificate of {name}"), name=server),
        found=format_lazy(_("ends in {days} days, on {day}"), days=certificate["days_left"], day=f"{ends_at:%Y-%m-%d}"),
        wanted=format_lazy(_("{days} days or more"), days=WARN_DAYS),
        remedy=_("Renew it: when it has ended, nothing that needs this server works."),
    )
