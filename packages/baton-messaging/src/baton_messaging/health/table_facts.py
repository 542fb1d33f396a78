"""Facts about our tables as the server has them: in which schema, with which rights, and what stands before them.

A trigger, a rule or a policy that is none of ours may refuse or swallow rows, and only the server knows of it; so may a
right that one role of several lacks. Of rights, every role is asked about that works here at this moment.

*Source*: PostgreSQL manual, pg_trigger (tgtype: bit 1 is BEFORE, bit 6 INSTEAD OF), pg_rewrite, pg_policy, pg_class.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.apps import apps

from baton_messaging.database.roles import ADDED_TO_ONLY, NEEDED

#: Triggers that our migrations make.
OUR_TRIGGERS: Final = ("baton_append_only", "baton_never_emptied")
_OURS: Final = "c.relkind IN ('r', 'p') AND c.relname LIKE 'baton\\_%'"


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


TABLE_FACTS: Final = {
    "schemas": """
        SELECT n.nspname AS schema, pg_table_is_visible(c.oid) AS is_visible, current_setting('search_path') AS path
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = 'baton_outbox' AND c.relkind IN ('r', 'p') ORDER BY 2 DESC
    """,
    "missing_rights": f"""
        SELECT role.name AS "user", c.oid::regclass::text AS "table",
            string_agg(wanted.privilege, ', ' ORDER BY wanted.privilege) AS rights, role.roles
        FROM (
            SELECT usename::text AS name,
                array_remove(array_agg(DISTINCT substring(application_name FROM 'baton ([a-z]+) ')), 'health') AS roles
            FROM pg_stat_activity
            WHERE datname = current_database() AND (application_name ~ '(^| )baton ' OR pid = pg_backend_pid())
            GROUP BY usename
        ) AS role, pg_class c, unnest(ARRAY[{_quoted(NEEDED)}]) AS wanted (privilege)
        WHERE {_OURS} AND NOT has_table_privilege(role.name, c.oid, wanted.privilege)
            AND NOT (c.relname IN ({_quoted(ADDED_TO_ONLY)}) AND wanted.privilege IN ('UPDATE', 'DELETE'))
        GROUP BY role.name, role.roles, c.oid ORDER BY role.name, count(*) DESC, 2
    """,  # noqa: S608 - our own names
    "slots": """
        SELECT slot_name AS name, active AS is_active, wal_status,
            pg_wal_lsn_diff(
                CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END, restart_lsn
            )::bigint AS kept_bytes
        FROM pg_replication_slots WHERE restart_lsn IS NOT NULL ORDER BY 4 DESC NULLS LAST
    """,
}


def role_without_heartbeats(facts: Mapping[str, Any]) -> str:
    """Return a role that works here and may not write its heartbeat: its processes only seem dead."""
    lacking = (one for one in facts.get("missing_rights") or () if one["table"] == "baton_heartbeat")
    return next((str(one["user"]) for one in lacking if "INSERT" in one["rights"] or "UPDATE" in one["rights"]), "")


def guards_statement() -> str:
    """Return the question for triggers, rules and policies on the tables of all models, that none of ours is.

    A trigger of an app's table that always returns its row, as those that write a time do, swallows none.
    """
    tables = _quoted(tuple(sorted({model._meta.db_table for model in apps.get_models() if model._meta.managed})))
    theirs = f"c.relkind IN ('r', 'p') AND c.relname IN ({tables}) AND pg_table_is_visible(c.oid)"
    return rf"""
        SELECT c.oid::regclass::text AS "table", 'trigger' AS kind, t.tgname AS name, p.proname AS function,
            t.tgtype::int & 66 <> 0 AND (c.relname LIKE 'baton\_%' OR p.prosrc ~* 'return\s+null') AS may_swallow
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE {theirs} AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgname NOT IN ({_quoted(OUR_TRIGGERS)})
        UNION ALL
        SELECT c.oid::regclass::text, 'rule', r.rulename, NULL, r.is_instead
        FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE {theirs} AND r.ev_enabled <> 'D'
        UNION ALL
        SELECT c.oid::regclass::text, 'row level security',
            coalesce((SELECT string_agg(polname, ', ') FROM pg_policy WHERE polrelid = c.oid), '(no policy)'), NULL,
            row_security_active(c.oid)
        FROM pg_class c WHERE {theirs} AND c.relrowsecurity
    """  # noqa: S608 - our own names
