"""The rights of a database role: what the processes need of the tables, and what nobody may have who writes the audit.

Two roles. The *owner* has the tables, and runs ``migrate``; the *role of the processes* reads and writes rows, and can
neither change the audit nor take away the triggers that keep it. ``manage.py baton_grants ROLE`` writes the statements
that make a role the second kind, and the doctor asks the database whether the one it is connected as is.

Hazard: the statements are for the tables that the connected role owns in its schema, the project's own among them, and
for those that it makes later: run it again after a table was made by another role.
"""

from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

#: Rows are added to these, and never changed.
ADDED_TO_ONLY: Final = ("baton_audit_entry", "baton_audited_dead_letter")
#: What the processes need of every other table of ours.
NEEDED: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")

_RIGHTS: Final = """
    SELECT relation.relname, wanted.privilege, has_table_privilege(relation.oid, wanted.privilege)
    FROM pg_class AS relation, unnest(%(privileges)s::text[]) AS wanted (privilege)
    WHERE relation.oid = ANY (%(tables)s::regclass[])
    ORDER BY 1, 2
"""
_ROLE: Final = """
    SELECT current_user, rolsuper,
        EXISTS (SELECT 1 FROM pg_class WHERE oid = ANY (%(tables)s::regclass[]) AND pg_has_role(relowner, 'USAGE')),
        current_database() LIKE 'test\\_%%' OR coalesce(current_setting('baton.audit_may_be_emptied', true), '') = 'on'
    FROM pg_roles WHERE rolname = current_user
"""


@dataclass(frozen=True)
class RoleRights:
    """What the connected role may do."""

    role: str
    is_superuser: bool
    owns_audit: bool
    is_test: bool  # of a database in which the audit may be emptied (migration 0006)
    on_audit: tuple[str, ...]  # "UPDATE on baton_audit_entry": rights that it should not have
    missing: tuple[str, ...]  # rights that it lacks

    @property
    def can_change_audit(self) -> bool:
        """Tell whether nothing but good will keeps the role from rewriting the audit."""
        return not self.is_test and (self.is_superuser or self.owns_audit or bool(self.on_audit))


def grants(role: str) -> list[str]:
    """Return the statements that give a role what the processes need, to be executed by the owner of the tables."""
    name, schema = connection.ops.quote_name(role), connection.ops.quote_name(_current_schema())
    audit = ", ".join(f"{schema}.{table}" for table in ADDED_TO_ONLY)
    return [
        f"GRANT USAGE ON SCHEMA {schema} TO {name}",
        f"GRANT {', '.join(NEEDED)} ON ALL TABLES IN SCHEMA {schema} TO {name}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {name}",
        f"REVOKE UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES ON {audit} FROM {name}",
        f"REVOKE INSERT, UPDATE, DELETE ON {schema}.django_migrations FROM {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {', '.join(NEEDED)} ON TABLES TO {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT USAGE, SELECT ON SEQUENCES TO {name}",
    ]


def rights_of_this_role(tables: list[str]) -> RoleRights:
    """Ask the database what the connected role may do with our ``tables``. Three questions."""
    role, is_superuser, owns_audit, is_test = _rows(_ROLE, tables=[*ADDED_TO_ONLY])[0]
    on_audit = _rows(_RIGHTS, tables=[*ADDED_TO_ONLY], privileges=["UPDATE", "DELETE", "TRUNCATE", "TRIGGER"])
    needed = _rows(_RIGHTS, tables=tables, privileges=[*NEEDED])
    return RoleRights(
        role=role,
        is_superuser=is_superuser,
        owns_audit=owns_audit,
        is_test=is_test,
        on_audit=tuple(f"{right} on {table}" for table, right, has in on_audit if has),
        missing=tuple(
            f"{right} on {table}"
            for table, right, has in needed
            if not has and (table not in ADDED_TO_ONLY or right in ("SELECT", "INSERT"))
        ),
    )


def _current_schema() -> str:
    return str(_rows("SELECT current_schema()")[0][0])


def _rows(statement: str, **parameters: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return list(cursor.fetchall())
