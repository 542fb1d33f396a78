"""The database's condition as diagnoses: why it takes no commits, who holds what others wait for, what is set wrongly.

Source: PostgreSQL's manual, "The Statistics Collector", pg_locks, and the appendix "PostgreSQL Error Codes".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.servers.database_remedies import activity, holders, remedy_for
from baton_messaging.diagnosis.servers.sessions import waiting_sessions
from baton_messaging.diagnosis.servers.settings import harmful_settings
from baton_messaging.diagnosis.servers.tables import guards, lacking_rights, unread_slots
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration

#: Share of the connections in use above which a burst of web requests finds none.
MAX_CONNECTION_SHARE: Final = 0.9
#: Seconds of a commit: more, and each message takes that long at least.
MAX_COMMIT_SECONDS: Final = 1.0

WANTED: Final = _("a server that commits what it is given")
_FOUND: Final[Mapping[Condition, Any]] = {
    Condition.AWAY: _("the database does not answer"),
    Condition.REFUSES: _("the database takes no commits"),
    Condition.READ_ONLY: _("the database takes no writes"),
    Condition.FULL: _("the database is full"),
    Condition.NOT_PERMITTED: _("the database does not let us in"),
    Condition.DIFFERENT: _("the database has other tables than this release"),
}


def well(health: Health) -> Text:
    """Return what is said of a server that does the work."""
    server = health.facts.get("server") or {}
    return format_lazy(
        _("PostgreSQL {version} commits in {age} ({server})"),
        version=server.get("version", ""),
        age=duration(health.facts.get("commit_seconds") or health.seconds),
        server=health.server,
    )


def found(health: Health) -> Text:
    """Return why the work stands still."""
    text = remedy_for(health).found or _FOUND[health.condition]
    return format_lazy("{found} ({server}: {said})", found=text, server=health.server, said=health.said)


def remedy(health: Health) -> tuple[Text, str]:
    """Return what mends it, and the command for that."""
    known = remedy_for(health)
    return known.text, known.command


def observations(health: Health) -> Iterator[Diagnosis]:
    """Return what else the server shows: sessions that are in the way, settings, and what runs short."""
    facts = health.facts
    yield from waiting_sessions(facts)
    yield from harmful_settings(facts)
    yield from lacking_rights(facts, is_told=health.condition is Condition.NOT_PERMITTED)
    yield from guards(facts)
    yield from unread_slots(facts)
    if health.condition is not Condition.FULL:
        yield from _connections(facts)
    if health.condition is Condition.OK:
        yield from _slow_commit(facts)


def _connections(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    connections = facts.get("connections") or {}
    allowed = connections.get("max", 0) - connections.get("reserved", 0)
    if allowed <= 0 or connections["used"] <= allowed * MAX_CONNECTION_SHARE:
        return
    yield finding(
        Resource(Kind.SETTING, "connections in use"),
        _("connections in use"),
        found=format_lazy(
            _("{used} of {allowed}; most: {holders}"),
            used=connections["used"],
            allowed=allowed,
            holders=holders(facts) or "?",
        ),
        wanted=format_lazy(_("at most {share}"), share=f"{MAX_CONNECTION_SHARE:.0%}"),
        remedy=_("Close connections that nobody uses, raise max_connections, or put PgBouncer between."),
        command=activity(),
    )


def _slow_commit(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    seconds = facts.get("commit_seconds") or 0.0
    if seconds <= MAX_COMMIT_SECONDS:
        return
    yield finding(
        Resource(Kind.SETTING, "commit"),
        _("time of a commit"),
        found=duration(seconds),
        wanted=format_lazy(_("at most {age}"), age=duration(MAX_COMMIT_SECONDS)),
        remedy=_("Look at the server's disk and at the standby that commits wait for."),
        command=commands.sql("SELECT application_name, state, sync_state, flush_lag FROM pg_stat_replication"),
    )
