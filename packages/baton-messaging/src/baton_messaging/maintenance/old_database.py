"""A database of before 0.2.0 is recognised before anything is migrated in it, and refused.

Then the package was the app ``messaging``: tables, tasks and signatures had other names. Our first migration would put
new tables beside the old ones, and whatever still waits in those would wait for ever. Connected to ``pre_migrate``,
which Django sends before the first statement of a migration.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.apps import AppConfig
from django.core.management import CommandError
from django.db import connections
from django.db.migrations import Migration

OLD_TABLE: Final = "messaging_outboxmessage"
REFUSAL: Final = (
    "This database is one of Baton before 0.2.0, whose messages this release cannot read: "
    "delete it by `make reset` if it is a developer's, or carry it over as UPGRADING.md of baton-messaging says."
)


def refuse_old_database(
    *, app_config: AppConfig, using: str, plan: Iterable[tuple[Migration, bool]], **_kwargs: Any
) -> None:
    """Raise CommandError if the plan would create our tables beside the old ones."""
    creates_ours = any(migration.app_label == app_config.label and not is_undone for migration, is_undone in plan)
    if creates_ours and OLD_TABLE in connections[using].introspection.table_names():
        raise CommandError(REFUSAL)
