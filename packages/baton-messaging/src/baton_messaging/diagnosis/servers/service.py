"""Mail, storage, and what else an app works with: its condition as a diagnosis. The platform runs these servers."""

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Team
from baton_messaging.diagnosis.servers.network_words import told_by_the_network
from baton_messaging.diagnosis.servers.smtp import told_by_smtp
from baton_messaging.errors import TransientError
from baton_messaging.health.certificates import WARN_DAYS
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Text, finding
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
MAX_ERROR_CHARS: Final = 200  # the trail and the desk show the rest
#: The name of Django's mail server among the checks.
MAIL: Final = "mail"
_IN_A_FOLDER: Final = _("Look at {folder}: is its volume mounted there, is it a folder, and can it be written?")
_OF_A_FOLDER: Final = (Condition.DIFFERENT, Condition.READ_ONLY, Condition.AWAY)
#: The settings of what Django itself knows.
_SETTINGS: Final = {
    "remote control": "ACL SETUSER … '&*'",
    "mail": "MAILERS, EMAIL_… (EMAIL_URL)",
    "network": "/etc/resolv.conf",
}


def well(health: Health) -> Text:
    """Return what is said of a server that does the work."""
    return format_lazy(
        _("{server} does the work, in {age}"), server=health.server or health.name, age=duration(health.seconds)
    )


def found(health: Health) -> Text:
    """Return what it says."""
    words = ": ".join(part for part in (health.server, health.said) if part)
    text = format_lazy(meaning_of(health)[0], name=health.name)
    return format_lazy("{found} ({words})", found=text, words=words)


def remedy(health: Health) -> tuple[Text, str]:
    """Return what is to be done, and a command that does it, or shows more."""
    _meaning, text, command = meaning_of(health)
    if setting := _SETTINGS.get(health.name):
        text = format_lazy("{remedy} ({setting})", remedy=text, setting=setting)
    return text, str(health.facts.get("command") or command)


def meaning_of(health: Health) -> tuple[Any, Text, str]:
    """Return what the server's words mean, the step that mends it, and a command that shows more."""
    if health.name == MAIL and (reply := told_by_smtp(health.said)):
        return *reply, ""
    if told := told_by_the_network(health.said):
        meaning, step, command = told
        host, _colon, port = health.server.rpartition(":")
        is_filled = bool(host) and port.isdecimal()
        return meaning, step, command.format(host=host, port=port) if is_filled else ""
    step = _REMEDIES[health.condition]
    if health.server.startswith("/") and health.condition in _OF_A_FOLDER:
        step = format_lazy(_IN_A_FOLDER, folder=health.server)
    return _FOUND[health.condition], step, ""


def failing(name: str, error: str, owner: Team | None = None) -> Diagnosis:
    """Return the diagnosis of a service on which consumers fail, as their error tells: no check has said so yet."""
    said = " ".join(error.split())[:MAX_ERROR_CHARS]
    told = (told_by_smtp(said) if name == MAIL else None) or told_by_the_network(said)
    return finding(
        Resource(Kind.SERVICE, name),
        name,
        found=format_lazy(_("{server} fails: {error}"), server=name, error=said),
        wanted=WANTED,
        remedy=told[1]
        if told
        else _("Look at that server and at its settings; what needs it is tried again by itself."),
        owner=owner,
        command="python manage.py doctor",
        confidence=Confidence.LIKELY,
        stops_work=True,
    )


def failed_on(name: str, detail: str, worker: str, owner: Team) -> Diagnosis:
    """Return the diagnosis of a service on which work failed, as the app's own row says: it is not tried again."""
    return finding(
        Resource(Kind.SERVICE, name),
        name,
        found=format_lazy(
            _("the work failed on {server} ({detail}), as {worker} saw it"), server=name, detail=detail, worker=worker
        ),
        wanted=WANTED,
        remedy=_("Read in that worker's log what the system said, mend it (room, rights, descriptors), and ask again."),
        owner=owner,
        command="python manage.py doctor",
        confidence=Confidence.LIKELY,
        stops_work=True,
    )


def is_of_outside(error_class: str) -> bool:
    """Tell whether an error of this name is one of something outside: an app's own, or the operating system's."""
    module, _dot, name = error_class.rpartition(".")
    found = getattr(sys.modules.get(module or "builtins"), name, None)
    return isinstance(found, type) and issubclass(found, TransientError | OSError)


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
