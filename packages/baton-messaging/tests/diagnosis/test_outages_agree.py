"""In an outage of the database there is one diagnosis: triage, stuck list, doctor and board have its owner and step."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from baton_messaging.diagnosis import installation
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.diagnosis.problems import problems
from baton_messaging.diagnosis.triage.report import Report, triage_or_outage
from baton_messaging.diagnosis.triage.stuck import survey_or_outage
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind
from django.db import connection, connections

from tests.diagnosis.doctor.conftest import living, longer_deadlines  # noqa: F401 - fixtures
from tests.health.conftest import admin, plain_role  # noqa: F401 - fixtures

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("living", "longer_deadlines", "empty_broker"),
]
Admin = psycopg.Connection[Any]


@contextmanager
def elsewhere(_admin: Admin) -> Iterator[None]:
    """Let the settings name a port where nobody listens."""
    settings = connections.settings["default"]
    before = settings["PORT"]
    settings["PORT"] = 1
    try:
        yield
    finally:
        settings["PORT"] = before


def altered(change: LiteralString) -> Callable[[Admin], AbstractContextManager[None]]:
    @contextmanager
    def alter(admin: Admin) -> Iterator[None]:  # noqa: F811
        admin.execute(change)
        yield

    return alter


OUTAGES = {
    "nobody listens": elsewhere,
    "may not log in": altered("ALTER ROLE health_plain NOLOGIN"),
    "no connections": altered("ALTER ROLE health_plain CONNECTION LIMIT 0"),
    "another password": altered("ALTER ROLE health_plain PASSWORD 'another'"),
    "another search path": altered("ALTER ROLE health_plain SET search_path = elsewhere"),
    "read-only": altered("ALTER ROLE health_plain SET default_transaction_read_only = on"),
}


def of_database(diagnoses: list[Diagnosis]) -> Diagnosis:
    (found,) = (one for one in diagnoses if one.about.kind is Kind.DATABASE and one.status is Status.FINDING)
    return found


@pytest.mark.usefixtures("plain_role")
@pytest.mark.parametrize("outage", OUTAGES.values(), ids=OUTAGES)
def test_all_views_have_one_owner_and_one_step(
    admin: Admin,  # noqa: F811
    outage: Callable[[Admin], AbstractContextManager[None]],
) -> None:
    connection.close()
    installation.forget()
    with outage(admin):
        doctor = of_database(examine_all())
        board = of_database(problems())
        (verdict,) = triage_or_outage(str(uuid4())).verdicts
        stuck = survey_or_outage()
        connection.close()

    assert (board.found, board.remedy, board.command) == (doctor.found, doctor.remedy, doctor.command)
    assert str(doctor.owner) == str(board.owner) == verdict.owner
    if outage is not OUTAGES["read-only"]:  # then the rows can be read: of this id there are none
        assert (verdict.next_step.text, verdict.next_step.command) == (str(doctor.remedy), doctor.command)
    assert isinstance(stuck, Report)
    assert (stuck.verdicts[0].next_step.text, stuck.verdicts[0].next_step.command) == (
        str(doctor.remedy),
        doctor.command,
    )
