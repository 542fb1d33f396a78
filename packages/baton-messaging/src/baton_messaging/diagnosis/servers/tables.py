"""Our tables as diagnoses: rights that a working role lacks, what may swallow rows, and slots that have no reader.

What has_table_privilege says is proved. That a trigger or a rule is to blame is not: it may let through what it should.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.servers import database_remedies
from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Confidence, Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource

_DISABLE: Final = {
    "trigger": 'ALTER TABLE {table} DISABLE TRIGGER "{name}"',
    "rule": 'ALTER TABLE {table} DISABLE RULE "{name}"',
    "row level security": "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
}


def lacking_rights(facts: Mapping[str, Any], *, is_told: bool) -> Iterator[Diagnosis]:
    """Return what each role lacks that works here; ``is_told``: that of our own is the trouble itself."""
    ours = (facts.get("server") or {}).get("user")
    missing = sorted(facts.get("missing_rights") or (), key=lambda one: str(one["user"]))
    for user, rows in groupby(missing, key=lambda one: str(one["user"])):
        if user == ours and is_told:
            continue
        lacking = list(rows)
        remedy = database_remedies.rights_back(lacking)
        yield finding(
            _who_works_as(lacking) if user != ours else resource.DATABASE,
            _("rights of the role"),
            found=remedy.found,
            wanted=_("SELECT, INSERT, UPDATE and DELETE on the tables of ours; on the audit SELECT and INSERT"),
            remedy=remedy.text,
            command=remedy.command,
            stops_work=True,
        )


def _who_works_as(lacking: list[Mapping[str, Any]]) -> Resource:
    """Return the processes that connect as the role, by what their connections say they are."""
    roles = {role for one in lacking for role in one.get("roles") or ()}
    return Resource(Kind.ROLE, roles.pop()) if len(roles) == 1 and "worker" not in roles else resource.DATABASE


def guards(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return triggers, rules and policies that may keep rows from being written or seen, and that no migration made.

    Before our own tables they keep everything from its work; before an app's, its consumers.
    """
    for guard in facts.get("guards") or ():
        is_ours = guard["table"].startswith("baton_")
        if not guard["may_swallow"] or (not is_ours and is_made_by_a_migration(guard["function"] or guard["name"])):
            continue
        name = f"{guard['kind']} {guard['name']}" + (f" ({guard['function']})" if guard.get("function") else "")
        found = _("{name} on {table}, which no migration has made, can change, refuse, swallow or hide rows")
        yield finding(
            resource.DATABASE if is_ours else Resource(Kind.SETTING, f"table {guard['table']}"),
            _("what stands before our tables"),
            found=format_lazy(found, name=name, table=guard["table"]),
            wanted=_("none"),
            remedy=format_lazy(_("Find out who made it, and take it off {table}."), table=guard["table"]),
            command=commands.sql(_DISABLE[guard["kind"]].format(**guard)),
            confidence=Confidence.LIKELY,
            stops_work=is_ours,
        )


def is_made_by_a_migration(name: str) -> bool:
    """Tell whether a migration of an app of this project names a trigger's function, a rule, or a policy."""
    folders = [Path(app.path) / "migrations" for app in apps.get_app_configs()]
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(path.read_text()) for folder in folders for path in folder.glob("*.py"))


def unread_slots(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return the replication slots that keep the log for a reader who does not come: it fills the disk."""
    for slot in database_remedies.unread_slots(facts):
        yield finding(
            Resource(Kind.DATA, f"slot {slot['name']}"),
            _("replication slots"),
            found=format_lazy(
                _("nobody reads slot {name}: it keeps {size} GiB of the log ({status})"),
                name=slot["name"],
                size=f"{slot['kept_bytes'] / 2**30:.1f}",
                status=slot["wal_status"],
            ),
            wanted=_("none"),
            remedy=_("Bring its reader back, or drop the slot before the disk is full."),
            command=commands.sql(f"SELECT pg_drop_replication_slot('{slot['name']}')"),
        )
