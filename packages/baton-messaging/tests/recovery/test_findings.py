"""What sending again cannot repair is reported, with an owner."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery.findings import Finding, _checks, findings, finds
from baton_messaging.routing.discovery import discover
from django.db import OperationalError, connection
from django.db.models.functions import Now
from django.utils import timezone

from tests.parcels import services
from tests.parcels.models import Parcel

pytestmark = pytest.mark.django_db


def a_parcel_of(*, minutes_ago: float) -> Parcel:
    """Hand in a parcel, and move it into the past."""
    parcel = services.hand_in()
    parcel.handed_in_at = timezone.now() - timedelta(minutes=minutes_ago)
    parcel.save()
    return parcel


def test_a_row_without_a_message_is_found_and_belongs_to_its_queues_owner() -> None:
    told, untold, young = (a_parcel_of(minutes_ago=minutes) for minutes in (8, 8, 1))
    OutboxMessage.objects.exclude(key=str(told.pk)).delete()
    (found,) = findings()
    assert (found.count, found.examples) == (1, (str(untold.pk),))
    assert found.owner == "Warehouse team <warehouse@example.com>"
    assert young.pk != untold.pk


def test_a_message_that_was_processed_without_an_effect_is_found() -> None:
    parcels = [a_parcel_of(minutes_ago=8) for _ in range(2)]
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="parcels.count", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=Now() - timedelta(minutes=7))
    services.stamp(parcels[0].pk, "count")
    (found,) = findings()
    assert (found.count, found.examples) == (1, (str(parcels[1].pk),))
    ProcessedMessage.objects.update(worker="replaced by a copy")
    assert findings() == []


@pytest.fixture
def _own_checks() -> Iterator[None]:
    discover("findings")
    before = dict(_checks)
    yield
    _checks.clear()
    _checks.update(before)


@pytest.mark.usefixtures("_own_checks")
def test_a_check_that_fails_keeps_no_other_from_being_run() -> None:
    @finds
    def broken() -> Finding | None:
        raise RuntimeError("a bug")

    @finds
    def sound() -> Finding | None:
        return Finding(what="it", count=1, examples=("a",), owner="us", remedy="mend it")

    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_check_whose_statement_the_database_refuses_keeps_no_other_from_being_run() -> None:
    @finds
    def a_broken() -> Finding | None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM no_such_table")
        return None

    @finds
    def sound() -> Finding | None:
        return Finding(what="it", count=1, examples=("a",), owner="us", remedy="mend it")

    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_database_that_is_away_is_no_finding() -> None:
    @finds
    def unlucky() -> Finding | None:
        raise OperationalError("the connection is lost")

    with pytest.raises(OperationalError):
        findings()
