"""Statements that the database refused a handler: what it said tells a fault of the code from one of the database.

A handler that meets a full disk, a right that was taken away, a trigger that its team has not made, or a search path
that leads elsewhere, has done nothing wrong: then the platform is the owner, and the step is the database's. What the
words alone do not prove is asked of the server as it is now: where the right has been given back, nothing is to mend.

*Source*: PostgreSQL manual, "Error Codes", "System Information Functions"; src/backend/catalog/aclchk.c (the words).
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from django.apps import apps
from django.db import connection
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.servers.database_remedies import Remedy, search_path_back
from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.diagnosis.servers.settings import harmful_settings
from baton_messaging.diagnosis.servers.tables import is_made_by_a_migration
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.observability.health import unapplied_migration_count

#: What the server lacks itself, by its words: said of a statement, it is true of the server.
_OF_THE_SERVER: Final = (
    ("No space left on device", Condition.FULL),
    ("could not extend file", Condition.FULL),
    ("Disk quota exceeded", Condition.FULL),
    ("Read-only file system", Condition.READ_ONLY),
    ("in a read-only transaction", Condition.READ_ONLY),
    ("Input/output error", Condition.REFUSES),
    ("invalid page", Condition.REFUSES),
    ("out of shared memory", Condition.FULL),
)
_LACKING: Final = """
    SELECT role.name, string_agg(wanted.privilege, ', ' ORDER BY wanted.privilege)
    FROM (
        SELECT DISTINCT usename::text AS name FROM pg_stat_activity
        WHERE datname = current_database() AND (application_name ~ 'baton worker ' OR pid = pg_backend_pid())
    ) AS role, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted (privilege)
    WHERE NOT has_table_privilege(role.name, to_regclass(%s), wanted.privilege) GROUP BY role.name ORDER BY 1 LIMIT 1
"""
_TRIGGERS: Final = """
    SELECT t.tgname, c.oid::regclass::text FROM pg_trigger t
    JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND p.proname = %s ORDER BY 1 LIMIT 1
"""
_POLICIES: Final = """
    SELECT coalesce(
        (SELECT string_agg(polname, ', ' ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid), 'no policy')
    FROM pg_class c WHERE c.oid = to_regclass(%s) AND c.relrowsecurity
"""
_ELSEWHERE: Final = """
    SELECT n.nspname, current_setting('search_path'), current_user FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = %s AND c.relkind IN ('r', 'p', 'v') AND NOT pg_table_is_visible(c.oid) LIMIT 1
"""
_SETTING: Final = """
    SELECT r.rolname, d.datname, %s, substr(setting, strpos(setting, '=') + 1)
    FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole
        LEFT JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) AS setting
    WHERE (d.datname IS NULL OR d.datname = current_database()) AND (r.rolname IS NULL OR r.rolname = current_user)
        AND split_part(setting, '=', 1) = %s
"""


#: By what the server says of them.
_TIMEOUTS: Final = {
    "idle-in-transaction": "idle_in_transaction_session_timeout",
    "idle-session": "idle_session_timeout",
}


def cause_of_refusal(error_class: str, text: str) -> Diagnosis | None:
    """Return why the database refused a statement, None where that is the code's own doing, or is mended.

    One or two small questions to the database, inside a transaction of the caller's. Raises the database's errors.
    """
    if error_class.endswith(".DoesNotExist"):
        return _hidden(error_class)
    if not error_class.startswith("django.db.utils."):
        return None
    for pattern, explain in _BY_WORDS:
        if match := re.search(pattern, text):
            return explain(match, text)
    return None


def _server(match: "re.Match[str]", text: str) -> Diagnosis | None:
    """The server lacks something: the next statement may find that it does no more, so it is likely only."""
    condition = next(condition for word, condition in _OF_THE_SERVER if word == match[0])
    settings = connection.settings_dict
    server = f"{settings['HOST'] or 'localhost'}:{settings['PORT'] or 5432}/{settings['NAME']}"
    cause = next(diagnose(Health("database", condition, _first_line(text), server)))
    return _likely(cause.about, Remedy(cause.found, cause.remedy, cause.command))


def _right(match: "re.Match[str]", text: str) -> Diagnosis | None:
    kind, name = match["kind"], match["name"]
    if kind not in ("table", "relation", "view"):
        right = {"schema": "USAGE", "sequence": "USAGE, SELECT", "function": "EXECUTE"}.get(kind, "ALL")
        grant = f"GRANT {right} ON {kind.upper()} {name} TO {_quoted(_role())}"
        return _likely(_of_table(name), _lacks(_first_line(text), commands.sql(grant)))
    for role, rights in _rows(_LACKING, name):
        found = format_lazy(_("role {user} lacks rights: {rights}"), user=role, rights=f"{rights} on {name}")
        grant = f"GRANT {rights} ON {name} TO {_quoted(role)}"
        return _sure(_of_table(name), _lacks(found, commands.sql(grant)))
    return None  # it has been given back


def _lacks(found: Text, command: str) -> Remedy:
    return Remedy(found, _("Give the role this right back, as the owner of the table; then replay what died."), command)


def _policy(match: "re.Match[str]", text: str) -> Diagnosis | None:
    table = match["name"]
    remedy = _("A policy of {table} keeps its rows from this role: correct it, or give the role another.")
    return _likely(
        _of_table(table),
        Remedy(
            _first_line(text),
            format_lazy(remedy, table=table),
            commands.sql(f"SELECT * FROM pg_policies WHERE tablename = '{table}'"),  # noqa: S608 - for a person to read
        ),
    )


def _hidden(error_class: str) -> Diagnosis | None:
    """A row that is there may be hidden from the role: by a policy on its table that no migration has made."""
    models = {f"{one.__module__}.{one.__qualname__}.DoesNotExist": one for one in apps.get_models()}
    model = models.get(error_class)
    if model is None:
        return None
    table = model._meta.db_table
    for (policies,) in _rows(_POLICIES, table):
        if not is_made_by_a_migration(str(policies).partition(",")[0]):
            found = _("row level security of {table} ({policies}), which no migration has made, may hide the row")
            remedy = _("A policy of {table} keeps its rows from this role: correct it, or give the role another.")
            return _likely(
                _of_table(table),
                Remedy(
                    format_lazy(found, table=table, policies=policies),
                    format_lazy(remedy, table=table),
                    commands.sql(f"SELECT * FROM pg_policies WHERE tablename = '{table}'"),  # noqa: S608 - for a person
                ),
            )
    return None


def _function(match: "re.Match[str]", text: str) -> Diagnosis | None:
    """A trigger raises: a team's own, where one of its migrations has made it, or one that came past them."""
    function = match["name"]
    for trigger, table in _rows(_TRIGGERS, function):
        if is_made_by_a_migration(function):
            return None
        found = _("trigger {trigger} of {table}, which no migration has made, refuses: {said}")
        remedy = _("Find out who made trigger {trigger}, and take it off {table}; then replay what died.")
        names = {"trigger": f"{trigger} ({function})", "table": table, "said": _first_line(text)}
        disable = f'ALTER TABLE {table} DISABLE TRIGGER "{trigger}"'
        return _likely(
            _of_table(table), Remedy(format_lazy(found, **names), format_lazy(remedy, **names), commands.sql(disable))
        )
    return None


def _relation(match: "re.Match[str]", text: str) -> Diagnosis | None:
    """It is in another schema, or a migration is missing; else somebody has taken it away, or the code is wrong."""
    name = match["name"]
    for schema, path, user in _rows(_ELSEWHERE, name):
        names = {"schema": schema, "path": path, "user": user}
        found = _("{name} is in schema {schema}, and search_path is {path}")
        remedy = _("Let the search_path of role {user} name schema {schema} again.")
        back = search_path_back({"settings": _settings("search_path")}, names)
        return _sure(
            _of_table(name),
            Remedy(format_lazy(found, name=name, **names), format_lazy(remedy, **names), commands.sql(back)),
        )
    if not name.startswith("baton_") and not (count := unapplied_migration_count()):
        return _changed_by_hand(match, text) if "column" in match[0] else None
    if name.startswith("baton_"):
        found = format_lazy(_("the database has other tables than this release ({said})"), said=_first_line(text))
    else:
        found = format_lazy(_("{count} migrations are not applied ({said})"), count=count, said=_first_line(text))
    remedy = _("Apply the migrations of this release, or start the release that the tables are of.")
    return _likely(_of_table(name), Remedy(found, remedy, "python manage.py migrate"))


def _changed_by_hand(match: "re.Match[str]", text: str) -> Diagnosis | None:
    """All migrations are applied, and a table of an app lacks a column: another release, or a hand, has changed it.

    The app's team owns both, its code and its tables.
    """
    model = next((one for one in apps.get_models() if one._meta.db_table == match["name"]), None)
    if model is None:
        return None
    label = model._meta.app_label
    owner = next((one.owner for one in baton().queues if one.name == label), None)
    remedy = _(
        "Undo what changed {table} past this release's migrations, or deploy the release that knows it; then replay."
    )
    found = _("table {table} is not what this release and its migrations say ({said})")
    names = {"table": match["name"], "said": _first_line(text)}
    told = _likely(
        _of_table(match["name"]),
        Remedy(format_lazy(found, **names), format_lazy(remedy, **names), f"python manage.py showmigrations {label}"),
    )
    return replace(told, owner=owner or told.owner)


def _timeout(match: "re.Match[str]", _text: str) -> Diagnosis | None:
    """A time-out that was set on the role or the database ends work that is only busy; any other is the handler's."""
    setting = _TIMEOUTS.get(match["kind"], f"{match['kind']}_timeout")
    found = next(harmful_settings({"server": {"user": _role()}, "settings": _settings(setting)}), None)
    return _likely(found.about, Remedy(found.found, found.remedy, found.command)) if found else None


_BY_WORDS: Final[tuple[tuple[str, Callable[["re.Match[str]", str], Diagnosis | None]], ...]] = (
    ("|".join(word for word, _condition in _OF_THE_SERVER), _server),
    (r"permission denied for (?P<kind>\w+) (?P<name>\S+)", _right),
    (r'row-level security policy for table "(?P<name>[^"]+)"', _policy),
    (r'(relation|of relation) "(?P<name>[^"]+)" does not exist', _relation),
    (r"column (?P<name>[^ .]+)\.\S+ does not exist", _relation),
    (r'column "(?P<name>[^"]+)" does not exist', _relation),
    (r"canceling statement due to (?P<kind>lock|statement) timeout", _timeout),
    (r"terminating connection due to (?P<kind>idle-in-transaction|idle-session|transaction) timeout", _timeout),
    (r"PL/pgSQL function (?P<name>\w+)\(", _function),
)


def _of_table(name: str) -> Resource:
    return Resource(Kind.SETTING, f"table {name.removeprefix('public.')}")


def _sure(about: Resource, remedy: Remedy) -> Diagnosis:
    return finding(
        about,
        _("what the database refuses"),
        found=remedy.found,
        wanted=_("a database that takes what this release writes"),
        remedy=remedy.text,
        command=remedy.command,
        stops_work=True,
    )


def _likely(about: Resource, remedy: Remedy) -> Diagnosis:
    return replace(_sure(about, remedy), confidence=Confidence.LIKELY)


def _role() -> str:
    return str(_rows("SELECT current_user")[0][0])


def _settings(name: str) -> list[dict[str, Any]]:
    return [dict(zip(("user", "database", "name", "value"), row, strict=True)) for row in _rows(_SETTING, name, name)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _rows(statement: str, *parameters: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, list(parameters))
        return list(cursor.fetchall())
