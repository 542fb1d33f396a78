"""What sending again cannot repair is reported, with an owner; triage may ask of one key."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

import pytest
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery.findings import _CHECKS, Rows, contradicting, findings, finds
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
    assert (found.what, str(found.found)) == ("parcels without a message", f"1: {untold.pk}")
    assert str(found.owner) == "Warehouse team <warehouse@example.com>"
    assert young.pk != untold.pk


def test_of_many_some_are_named() -> None:
    for _ in range(7):
        a_parcel_of(minutes_ago=8)
    OutboxMessage.objects.all().delete()
    (found,) = findings()
    assert str(found.found).startswith("7, as ")
    assert str(found.found).count(",") == 5


def test_one_key_is_asked_about_whatever_its_age() -> None:
    told, untold, old = (a_parcel_of(minutes_ago=minutes) for minutes in (8, 8, 90_000))
    OutboxMessage.objects.exclude(key=str(told.pk)).delete()
    found = contradicting([str(told.pk), str(untold.pk), str(old.pk), "no id at all"])
    assert set(found) == {str(untold.pk), str(old.pk)}
    (diagnosis,) = found[str(old.pk)]
    assert (diagnosis.what, str(diagnosis.found)) == ("parcels without a message", f"1: {old.pk}")


def test_a_message_that_was_processed_without_an_effect_is_found() -> None:
    parcels = [a_parcel_of(minutes_ago=8) for _ in range(2)]
    ids = list(OutboxMessage.objects.values_list("message_id", flat=True))
    ProcessedMessage.objects.claim(consumer="parcels.count", message_ids=ids, worker="w")
    ProcessedMessage.objects.update(processed_at=Now() - timedelta(minutes=7))
    services.stamp(parcels[0].pk, "count")
    (found,) = findings()
    assert str(found.found) == f"1: {parcels[1].pk}"
    assert list(contradicting([str(parcel.pk) for parcel in parcels])) == [str(parcels[1].pk)]
    ProcessedMessage.objects.update(worker="replaced by a copy")
    assert findings() == []


@pytest.fixture
def _own_checks() -> Iterator[None]:
    before = dict(_CHECKS.all())
    yield
    _CHECKS._items.clear()
    _CHECKS._items.update(before)


def it() -> None:
    """Register a check that always finds something."""

    @finds("it", queue="parcels", remedy="mend it")
    def sound(_rows: Rows) -> Iterable[object]:
        return ["a"]


@pytest.mark.usefixtures("_own_checks")
def test_a_check_that_fails_keeps_no_other_from_being_run() -> None:
    @finds("broken", queue="parcels", remedy="")
    def broken(_rows: Rows) -> Iterable[object]:
        raise RuntimeError("a bug")

    it()
    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_check_whose_statement_the_database_refuses_keeps_no_other_from_being_run() -> None:
    @finds("broken", queue="parcels", remedy="")
    def a_broken(_rows: Rows) -> Iterable[object]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM no_such_table")
        return []

    it()
    assert [finding.what for finding in findings()] == ["it"]


@pytest.mark.usefixtures("_own_checks")
def test_a_database_that_is_away_is_no_finding() -> None:
    @finds("unlucky", queue="parcels", remedy="")
    def unlucky(_rows: Rows) -> Iterable[object]:
        raise OperationalError("the connection is lost")

    with pytest.raises(OperationalError):
        findings()
