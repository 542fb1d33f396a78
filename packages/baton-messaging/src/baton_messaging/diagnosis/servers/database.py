"""The database's condition as diagnoses: why it takes no commits, who holds what others wait for, what is set wrongly.

Source: PostgreSQL's manual, "The Statistics Collector", pg_locks, and the appendix "PostgreSQL Error Codes".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.servers.sessions import told, waiting_sessions
from baton_messaging.diagnosis.servers.settings import harmful_settings, read_only_setting
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
    text = _FOUND[health.condition]
    return format_lazy("{found} ({server}: {said})", found=text, server=health.server, said=health.said)


def remedy(health: Health) -> tuple[Text, str]:
    """Return what mends it, and the command for that."""
    return _of_pooler() if health.facts.get("pooler") else _BY_CONDITION[health.condition](health)


def _of_absence(health: Health) -> tuple[Text, str]:
    text = _("Bring it back, or correct its address (DATABASES, in the scaffold DATABASE_URL).")
    return text, _is_ready(health.server)


def _of_refusal(health: Health) -> tuple[Text, str]:
    if "SyncRep" in health.said:
        text = _("Bring the standby back that commits wait for, or let them go without one.")
        return text, commands.sql("ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()")
    if holder := _holder(health.facts):
        text = _("End the session that holds what this needs: {session}.")
        return format_lazy(text, session=told(holder)), _terminate(holder["pid"])
    return _("Do what the server says; relay and workers go on by themselves."), _activity()


def _of_want(health: Health) -> tuple[Text, str]:
    if _is_out_of_connections(health.facts, health.said):
        text = _("Close connections or raise max_connections. Most are held by {holders}.")
        return format_lazy(text, holders=_holders(health.facts) or "?"), _activity()
    text = _("Make room on the server's disk: logs, old backups, replication slots that nobody reads.")
    return text, _slots()


def _of_difference(_health: Health) -> tuple[Text, str]:
    text = _("Apply the migrations of this release, or start the release that the tables are of.")
    return text, "python manage.py migrate"


def _of_pooler() -> tuple[Text, str]:
    text = _("PgBouncer has no connection to give: raise default_pool_size, or end the sessions that hold them.")
    return text, "psql -p 6432 pgbouncer -c 'SHOW POOLS'"


def _of_read_only(health: Health) -> tuple[Text, str]:
    if (health.facts.get("server") or {}).get("is_in_recovery"):
        text = _(
            "It is a standby. Let DATABASES (in the scaffold DATABASE_URL) name the primary, or both and "
            "target_session_attrs=read-write; or promote this one, if the primary is gone for good."
        )
        return text, commands.sql("SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn()")
    return _("Somebody has made transactions read-only: take the setting back."), read_only_setting(health.facts)


def _of_permission(health: Health) -> tuple[Text, str]:
    server = health.facts.get("server") or {}
    if not server:  # not even logged in
        return _("Correct user and password (DATABASE_URL), or let this machine in (pg_hba.conf)."), ""
    grant = f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {server["schema"]} TO "{server["user"]}"'
    return _("Give the role its rights back, as the owner of the tables."), commands.sql(grant)


_BY_CONDITION: Final = {
    Condition.AWAY: _of_absence,
    Condition.REFUSES: _of_refusal,
    Condition.READ_ONLY: _of_read_only,
    Condition.FULL: _of_want,
    Condition.NOT_PERMITTED: _of_permission,
    Condition.DIFFERENT: _of_difference,
}


def _holder(facts: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for name in ("blockers", "table_locks"):
        for session in facts.get(name) or ():
            return dict(session)
    return None


def _is_out_of_connections(facts: Mapping[str, Any], said: str) -> bool:
    connections = facts.get("connections") or {}
    free = connections.get("max", 0) - connections.get("reserved", 0) - connections.get("used", 0)
    return "connection" in said or (bool(connections) and free <= 0)


def _holders(facts: Mapping[str, Any]) -> str:
    rows = facts.get("connections_by") or ()
    return ", ".join(f"{row['user']} ({row['application'] or '?'}, {row['state']}): {row['count']}" for row in rows[:3])


def _terminate(pid: int) -> str:
    return commands.sql(f"SELECT pg_terminate_backend({pid})")


def _activity() -> str:
    return commands.sql(
        "SELECT pid, usename, application_name, state, wait_event, state_change FROM pg_stat_activity ORDER BY 6"
    )


def _slots() -> str:
    return commands.sql("SELECT slot_name, active, wal_status FROM pg_replication_slots")


def _is_ready(server: str) -> str:
    host, _colon, rest = server.partition(":")
    return f"pg_isready -h {host} -p {rest.partition('/')[0]}" if rest else ""


def observations(health: Health) -> Iterator[Diagnosis]:
    """Return what else the server shows: sessions that are in the way, settings, and what runs short."""
    facts = health.facts
    yield from waiting_sessions(facts, health.checked_at)
    yield from harmful_settings(facts)
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
            holders=_holders(facts) or "?",
        ),
        wanted=format_lazy(_("at most {share}"), share=f"{MAX_CONNECTION_SHARE:.0%}"),
        remedy=_("Close connections that nobody uses, raise max_connections, or put PgBouncer between."),
        command=_activity(),
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
