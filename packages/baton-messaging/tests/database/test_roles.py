"""The processes' role: it works with the rights that are granted, and cannot touch what the audit says."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from baton_messaging.audit.operations import operation
from baton_messaging.database import roles
from baton_messaging.diagnosis.doctor.database import examine_role
from baton_messaging.health.diagnosis import Status
from baton_messaging.models import AuditEntry, DeadLetter, OutboxMessage
from baton_messaging.models.audit import Action
from baton_messaging.publish import publish
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from uuid_utils.compat import uuid7

from tests.dead_letters.factories import SHELL, a_letter
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)

ROLE = "baton-roles test"  # to be quoted
PASSWORD = "not-a-secret"
AUDIT = ("baton_audit_entry", "baton_audited_dead_letter")


def owner_executes(*statements: str) -> None:
    settings = connection.settings_dict
    options = {name: settings[name.upper()] for name in ("host", "port", "user", "password")}
    with psycopg.connect(dbname=settings["NAME"], autocommit=True, **options) as own:
        for statement in statements:
            own.execute(statement)


@pytest.fixture
def role() -> Iterator[str]:
    """A role without any right."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE \"{ROLE}\" LOGIN PASSWORD '{PASSWORD}'")
    yield ROLE
    with connection.cursor() as cursor:
        cursor.execute(f'DROP OWNED BY "{ROLE}"')
        cursor.execute(f'DROP ROLE "{ROLE}"')


@contextmanager
def connected_as(role: str) -> Iterator[None]:
    """Let this thread's connection be the role's, with the project's other settings."""
    own = connection.settings_dict
    kept = {"USER": own["USER"], "PASSWORD": own["PASSWORD"]}
    connection.close()
    own |= {"USER": role, "PASSWORD": PASSWORD}
    try:
        yield
    finally:
        connection.close()
        own |= kept


@pytest.fixture
def process_role(role: str) -> str:
    call_command("baton_grants", role, apply=True)
    return role


def doctor() -> dict[str, Any]:
    return {str(diagnosis.what): diagnosis for diagnosis in examine_role()}


def test_with_the_granted_rights_the_processes_work(process_role: str) -> None:
    with connected_as(process_role):
        with transaction.atomic():
            publish(Sampled(sample_id=uuid7()))
        dead_letter = a_letter()
        with operation(SHELL, Action.DISCARD, why="tried"):
            DeadLetter.objects.filter(pk=dead_letter.pk).discard(by="ann")
        OutboxMessage.objects.all().delete()
        assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize("table", AUDIT)
@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE {} CASCADE",
        "DELETE FROM {}",
        "UPDATE {} SET id = 7",
        "ALTER TABLE {} DISABLE TRIGGER ALL",
        "DROP TABLE {} CASCADE",
        "SET session_replication_role = replica",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ],
)
def test_the_processes_can_neither_change_nor_empty_the_audit(process_role: str, table: str, statement: str) -> None:
    refused = pytest.raises(DatabaseError, match=r"permission denied|must be owner")
    with connected_as(process_role), connection.cursor() as cursor, refused:
        cursor.execute(statement.format(table))


def test_tables_of_later_migrations_are_granted_too(process_role: str) -> None:
    owner_executes("CREATE TABLE later (id bigserial)")
    try:
        with connected_as(process_role), connection.cursor() as cursor:
            cursor.execute("INSERT INTO later DEFAULT VALUES RETURNING id")
            assert cursor.fetchone() == (1,)
    finally:
        owner_executes("DROP TABLE later")


def test_without_apply_the_statements_are_written(role: str, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("baton_grants", role)
    owner_executes(*capsys.readouterr().out.split(";\n")[:-1])
    with connected_as(role):
        assert AuditEntry.objects.count() == 0


def test_the_owner_is_granted_nothing() -> None:
    with pytest.raises(CommandError, match="beside the owner"):
        call_command("baton_grants", connection.settings_dict["USER"])


def test_the_doctor_is_content_with_the_processes_role(process_role: str, real_database: None) -> None:
    with connected_as(process_role):
        (diagnosis,) = doctor().values()
    assert (diagnosis.status, str(diagnosis.found)) == (Status.OK, f"{ROLE} can only add to the audit")


def test_the_doctor_finds_a_superuser(real_database: None) -> None:
    (diagnosis,) = doctor().values()
    assert diagnosis.status is Status.FINDING
    assert "is a superuser" in str(diagnosis.found)


def test_the_doctor_finds_a_right_to_change_the_audit(process_role: str, real_database: None) -> None:
    owner_executes(f'GRANT TRUNCATE ON baton_audit_entry TO "{ROLE}"')
    with connected_as(process_role):
        (diagnosis,) = doctor().values()
    assert diagnosis.status is Status.FINDING
    assert "TRUNCATE on baton_audit_entry" in str(diagnosis.found)


def test_the_doctor_finds_a_right_that_is_missing(process_role: str) -> None:
    owner_executes(f'REVOKE DELETE ON baton_inbox FROM "{ROLE}"')
    with connected_as(process_role):
        diagnosis = doctor()["rights of the role"]
    assert str(diagnosis.found) == f"{ROLE} lacks DELETE on baton_inbox"
    assert diagnosis.command == f"python manage.py baton_grants '{ROLE}' --apply"


@pytest.fixture
def real_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this database count as one of no test: its audit may not be emptied."""
    monkeypatch.setattr(roles, "_ROLE", roles._ROLE.replace("current_database() LIKE 'test", "'shop' LIKE 'test"))
