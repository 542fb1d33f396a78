"""The audit can be added to only, by whoever may write to the database."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.audit.operations import operation
from baton_messaging.models import AuditEntry
from baton_messaging.models.audit import Action
from django.core.management import call_command
from django.db import DatabaseError, connection, connections

from tests.dead_letters.factories import SHELL
from tests.maintenance.test_old_database import server

SHOP = "shop"


@pytest.fixture
def shop(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """Make and migrate a database that is none of tests: those may be emptied."""
    name = f"shop_{uuid4().hex}"
    with server() as logged_in:
        logged_in.execute(f'CREATE DATABASE "{name}"')
    connections.databases[SHOP] = {**connection.settings_dict, "NAME": name}
    with django_db_blocker.unblock():
        call_command("migrate", "baton_messaging", database=SHOP, verbosity=0)
        yield SHOP
        connections[SHOP].close()
    del connections[SHOP], connections.databases[SHOP]
    with server() as logged_in:
        logged_in.execute(f'DROP DATABASE "{name}"')


@pytest.mark.django_db
@pytest.mark.parametrize(
    "rewrite", [lambda: AuditEntry.objects.update(actor="x"), lambda: AuditEntry.objects.get().delete()]
)
def test_no_entry_is_changed_or_deleted(rewrite: Callable[[], object]) -> None:
    with operation(SHELL, Action.RESTORE):
        pass
    with pytest.raises(DatabaseError, match="added to only"):
        rewrite()


@pytest.mark.parametrize("table", ["baton_audit_entry", "baton_audited_dead_letter"])
def test_it_is_not_emptied(shop: str, table: str) -> None:
    with (
        connections[shop].cursor() as cursor,
        pytest.raises(DatabaseError, match=f"added to only, got TRUNCATE on {table}"),
    ):
        cursor.execute(f"TRUNCATE {table} CASCADE")


def test_a_database_of_tests_may_be_allowed_to_empty_it(shop: str) -> None:
    with connections[shop].cursor() as cursor:
        cursor.execute("SET baton.audit_may_be_emptied = on")
        cursor.execute("TRUNCATE baton_audit_entry CASCADE")
