"""Remedies for a database that does no work: what the server's words ask for, with the names in them filled in.

The words are asked first (database_words.py), then what the tables show, and the condition only where neither tells.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.servers.database_words import BY_WORDS, OF_POOLER
from baton_messaging.diagnosis.servers.sessions import ending, told
from baton_messaging.diagnosis.servers.settings import read_only_setting
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Text

#: Tables that one sentence names.
MAX_TABLES: Final = 3
#: Beyond this a slot that nobody reads is what fills the disk.
MAX_KEPT_BYTES: Final = 2**30


@dataclass(frozen=True)
class Remedy:
    """What is wrong (empty: as its condition says), what mends it, and the command."""

    found: Text
    text: Text
    command: str = ""


def remedy_for(health: Health) -> Remedy:
    """Return what mends the trouble."""
    if health.facts.get("pooler"):
        return _of_pooler(health.said)
    if (found := _of_tables(health.facts)) and health.condition in (Condition.DIFFERENT, Condition.NOT_PERMITTED):
        return found
    for pattern, what, text, command in BY_WORDS:
        if match := re.search(pattern, health.said):
            names = {**_names(health), **{key: word for key, word in match.groupdict().items() if word}}
            return Remedy(what or "", format_lazy(text, **names), _command(command, names, health))
    return _BY_CONDITION[health.condition](health)


def _names(health: Health) -> dict[str, Any]:
    settings = connection.settings_dict
    host, port = settings["HOST"] or "localhost", str(settings["PORT"] or 5432)
    words = re.search(r'host "([^"]+)", user "([^"]+)", database "([^"]+)", no encryption', health.said)
    kind = "host" if words else "hostssl"
    address, user, database = words.groups() if words else ("ADDRESS", settings["USER"], settings["NAME"])
    mask = "128" if ":" in address else "32"
    return {
        "host": host,
        "port": port,
        "user": settings["USER"],
        "database": settings["NAME"],
        "holders": holders(health.facts) or "?",
        "slots": _kept_by_slots(health.facts) or _("replication slots that nobody reads"),
        "line": f"{kind} {database} {user} {address}/{mask} scram-sha-256",
    }


def _command(command: str, names: Mapping[str, Any], health: Health) -> str:
    if command == "slots":
        return _slots(health.facts)
    kind, colon, statement = command.partition(":")
    if not colon or kind not in ("sql", "psql"):
        return command.format(**names)
    return (commands.sql if kind == "sql" else commands.maintenance_sql)(statement.format(**names))


def _of_pooler(said: str) -> Remedy:
    for pattern, text, command in OF_POOLER:
        if re.search(pattern, said):
            return Remedy(_("PgBouncer lets nobody through"), text, _pgbouncer(command))
    text = _("PgBouncer has no connection to give: raise default_pool_size, or end the sessions that hold them.")
    return Remedy(_("PgBouncer's pool is exhausted"), text, _pgbouncer("SHOW POOLS"))


def _pgbouncer(command: str) -> str:
    settings = connection.settings_dict
    return f"psql -h {settings['HOST'] or 'localhost'} -p {settings['PORT'] or 6432} pgbouncer -c '{command}'"


def _of_tables(facts: Mapping[str, Any]) -> Remedy | None:
    """Return what the tables themselves show: a search path that does not lead to them, rights that a role lacks."""
    schemas, server = facts.get("schemas") or (), facts.get("server") or {}
    if schemas and not any(one["is_visible"] for one in schemas):
        names = {"schema": schemas[0]["schema"], "path": schemas[0]["path"], "user": server.get("user", "")}
        return Remedy(
            format_lazy(_("the tables are in schema {schema}, and search_path is {path}"), **names),
            format_lazy(_("Let the search_path of role {user} name schema {schema} again."), **names),
            commands.sql(search_path_back(facts, names)),
        )
    missing = [one for one in facts.get("missing_rights") or () if one["user"] == server.get("user")]
    return rights_back(missing) if missing else None


def search_path_back(facts: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return the statement that takes a search path back, or sets the right one where none was set."""
    for setting in facts.get("settings") or ():
        if setting["name"] == "search_path":
            user, database = setting.get("user"), setting.get("database")
            within = f' IN DATABASE "{database}"' if user and database else ""
            whose = f'ROLE "{user}"{within}' if user else f'DATABASE "{database}"'
            return f"ALTER {whose} RESET search_path"
    return f'ALTER ROLE "{names["user"]}" SET search_path = "{names["schema"]}"'


def rights_back(missing: list[Mapping[str, Any]]) -> Remedy:
    """Return what gives one role back what it lacks: the GRANT itself, or, of many tables, the command for all."""
    user = missing[0]["user"]
    told = "; ".join(f"{one['rights']} on {one['table']}" for one in missing[:MAX_TABLES])
    more = f"; … ({len(missing)})" if len(missing) > MAX_TABLES else ""
    grants = [f'GRANT {one["rights"]} ON {one["table"]} TO "{user}"' for one in missing]
    return Remedy(
        format_lazy(_("role {user} lacks rights: {rights}"), user=user, rights=f"{told}{more}"),
        format_lazy(_("Give role {user} its rights back, as the owner of the tables."), user=user),
        f"python manage.py baton_grants {user} --apply" if more else commands.sql(*grants),
    )


def _of_absence(health: Health) -> Remedy:
    text = _("Bring it back, or correct its address (DATABASES, in the scaffold DATABASE_URL).")
    host, _colon, rest = health.server.partition(":")
    return Remedy("", text, f"pg_isready -h {host} -p {rest.partition('/')[0]}" if rest else "")


def _of_refusal(health: Health) -> Remedy:
    if "SyncRep" in health.said:
        text = _("Bring the standby back that commits wait for, or let them go without one.")
        statements = ("ALTER SYSTEM SET synchronous_standby_names = ''", "SELECT pg_reload_conf()")
        return Remedy("", text, commands.sql(*statements))
    if holder := _holder(health.facts):
        text = _("End the session that holds what this needs: {session}.")
        return Remedy("", format_lazy(text, session=told(holder)), ending(holder))
    return Remedy("", _("Do what the server says; relay and workers go on by themselves."), activity())


def _of_want(health: Health) -> Remedy:
    if _is_out_of_connections(health.facts, health.said):
        text = _("Close connections or raise max_connections. Most are held by {holders}.")
        return Remedy(
            _("the database has no connection left"),
            format_lazy(text, holders=holders(health.facts) or "?"),
            activity(),
        )
    text = _("Make room on the server's disk: logs, old backups, replication slots that nobody reads.")
    return Remedy("", text, _slots(health.facts))


def _of_difference(_health: Health) -> Remedy:
    text = _("Apply the migrations of this release, or start the release that the tables are of.")
    return Remedy("", text, "python manage.py migrate")


def _of_read_only(health: Health) -> Remedy:
    if (health.facts.get("server") or {}).get("is_in_recovery"):
        text = _(
            "It is a standby. Let DATABASES (in the scaffold DATABASE_URL) name the primary, or both and "
            "target_session_attrs=read-write; or promote this one, if the primary is gone for good."
        )
        return Remedy("", text, commands.sql("SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn()"))
    return Remedy(
        "", _("Somebody has made transactions read-only: take the setting back."), read_only_setting(health.facts)
    )


def _of_permission(health: Health) -> Remedy:
    server = health.facts.get("server") or {}
    if not server:  # not even logged in
        return Remedy("", _("Correct user and password (DATABASE_URL), or let this machine in (pg_hba.conf)."))
    text = _("Give the role its rights back, as the owner of the tables.")
    return Remedy("", text, f"python manage.py baton_grants {server['user']} --apply")


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
    return "connection" in said or "clients" in said or (bool(connections) and free <= 0)


def holders(facts: Mapping[str, Any]) -> str:
    """Return who holds most of the connections."""
    rows = facts.get("connections_by") or ()
    return ", ".join(f"{row['user']} ({row['application'] or '?'}, {row['state']}): {row['count']}" for row in rows[:3])


def activity() -> str:
    """Return the command that lists all sessions."""
    return commands.sql(
        "SELECT pid, usename, application_name, state, wait_event, state_change FROM pg_stat_activity ORDER BY 6"
    )


def _kept_by_slots(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"slot {one['name']} ({one['kept_bytes'] / 2**30:.1f} GiB)" for one in unread_slots(facts))


def unread_slots(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the replication slots that nobody reads, and that keep much of the log."""
    return [
        one for one in facts.get("slots") or () if not one["is_active"] and (one["kept_bytes"] or 0) > MAX_KEPT_BYTES
    ]


def _slots(facts: Mapping[str, Any]) -> str:
    unread = unread_slots(facts)
    if unread:
        return commands.sql(*(f"SELECT pg_drop_replication_slot('{one['name']}')" for one in unread))
    return commands.sql("SELECT slot_name, active, wal_status FROM pg_replication_slots")
