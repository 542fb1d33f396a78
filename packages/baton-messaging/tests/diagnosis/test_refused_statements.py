"""A statement that the database refused a handler is the database's fault where the server shows that it is."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from baton_messaging.diagnosis.dead_letters import cause_now
from baton_messaging.diagnosis.refused_statements import cause_of_refusal
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.health.diagnosis import Confidence, Diagnosis
from baton_messaging.models import DeadLetter
from django.db import DatabaseError, connection, transaction

from tests.dead_letters.factories import a_letter
from tests.diagnosis.test_database_causes import statements_of
from tests.health.conftest import admin, plain_role  # noqa: F401 - fixtures
from tests.sample.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Admin = psycopg.Connection[Any]


def refused() -> DatabaseError:
    """Return what the database says to the sample consumer's own statement."""
    connection.close()
    try:
        with transaction.atomic():
            Effect.objects.create(sample_id=uuid4(), consumer="sample.take_one")
    except DatabaseError as error:
        return error
    raise AssertionError("the statement was executed")


def explained() -> Diagnosis | None:
    error = refused()
    kind = type(error)
    return cause_of_refusal(f"{kind.__module__}.{kind.__qualname__}", str(error))


@pytest.fixture
def healed(admin: Admin) -> Iterator[None]:  # noqa: F811
    """Put back what a change has done to the sample's table, and let this process connect as its own role again."""
    yield
    connection.close()
    admin.execute("DROP FUNCTION IF EXISTS on_tuesday() CASCADE")
    admin.execute("ALTER TABLE IF EXISTS elsewhere.sample_effect SET SCHEMA public")
    admin.execute("DROP SCHEMA IF EXISTS elsewhere")
    admin.execute("ALTER TABLE sample_effect DISABLE ROW LEVEL SECURITY")
    admin.execute("DELETE FROM sample_effect")


@pytest.mark.usefixtures("plain_role", "healed")
@pytest.mark.parametrize(
    ("change", "found", "confidence"),
    [
        (
            "REVOKE INSERT ON sample_effect FROM health_plain",
            "role health_plain lacks rights: INSERT on sample_effect",
            Confidence.SURE,
        ),
        (
            "CREATE FUNCTION on_tuesday() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'no rows on a Tuesday'; END$$; CREATE TRIGGER tuesday BEFORE INSERT ON "
            "sample_effect FOR EACH ROW EXECUTE FUNCTION on_tuesday()",
            "trigger tuesday (on_tuesday) of sample_effect, which no migration has made, refuses: no rows on a Tuesday",
            Confidence.LIKELY,
        ),
        (
            "CREATE SCHEMA elsewhere; ALTER TABLE sample_effect SET SCHEMA elsewhere;"
            "GRANT USAGE ON SCHEMA elsewhere TO health_plain",
            'sample_effect is in schema elsewhere, and search_path is "$user", public',
            Confidence.SURE,
        ),
    ],
)
def test_what_stands_before_the_consumers_table_is_the_platforms_and_the_command_takes_it_away(
    admin: Admin,  # noqa: F811
    change: LiteralString,
    found: str,
    confidence: Confidence,
) -> None:
    admin.execute(change)

    cause = explained()

    assert cause is not None
    assert str(cause.found) == found
    assert (str(cause.owner), cause.confidence) == ("Platform team <platform@example.com>", confidence)
    for statement in statements_of(cause.command):
        admin.execute(statement.encode())
    connection.close()
    Effect.objects.create(sample_id=uuid4(), consumer="sample.take_one")


@pytest.mark.usefixtures("plain_role", "healed")
def test_policy_that_keeps_rows_back_is_named_by_its_table(admin: Admin) -> None:  # noqa: F811
    admin.execute("ALTER TABLE sample_effect ENABLE ROW LEVEL SECURITY")

    cause = explained()

    assert cause is not None
    assert cause.confidence is Confidence.LIKELY
    assert "tablename = 'sample_effect'" in cause.command


@pytest.mark.usefixtures("healed")
def test_row_that_a_policy_may_hide_is_not_the_consumers_fault(admin: Admin) -> None:  # noqa: F811
    error = "tests.sample.models.Effect.DoesNotExist"
    assert cause_of_refusal(error, "Effect matching query does not exist.") is None
    admin.execute("ALTER TABLE sample_effect ENABLE ROW LEVEL SECURITY")

    cause = cause_of_refusal(error, "Effect matching query does not exist.")

    assert cause is not None
    assert str(cause.found).startswith("row level security of sample_effect (no policy), which no migration has made")


@pytest.mark.parametrize(
    ("error_class", "text"),
    [
        ("django.db.utils.IntegrityError", 'duplicate key value violates unique constraint "once"'),
        ("django.db.utils.ProgrammingError", 'column "typo" does not exist'),
        ("django.db.utils.ProgrammingError", 'relation "sample_nothing" does not exist'),
        ("django.db.utils.ProgrammingError", "permission denied for table sample_effect"),  # given back meanwhile
        ("django.db.utils.OperationalError", "canceling statement due to statement timeout"),  # the handler's own
        ("ValueError", "No space left on device"),
    ],
)
def test_fault_of_the_code_stays_its_teams(error_class: str, text: str) -> None:
    assert cause_of_refusal(error_class, text) is None


def test_full_disk_is_the_platforms_in_desk_and_triage(empty_broker: None) -> None:
    said = 'could not extend file "base/5/16384": No space left on device\nHINT:  Check free disk space.'
    dead_letter = a_letter(error_class="django.db.utils.OperationalError", error_message=said)

    (verdict,) = triage(str(dead_letter.pk)).verdicts
    cause = cause_now(DeadLetter.objects.get())

    assert cause is not None
    assert "the disk of the database is full" in str(cause.found)
    assert (verdict.owner_name, verdict.confidence) == ("Platform team", "likely")
    assert "Make room on the server's disk" in verdict.next_step.text
    assert verdict.next_step.command == cause.command
