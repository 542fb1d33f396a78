"""Asking for exports, cancelling and repeating them; the limits hold whoever races."""

from typing import Any

import pytest
from baton_messaging.testing import published
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from orders.events import ExportRequested
from orders.exports import services
from orders.exports.errors import (
    ExportNotActive,
    ExportNotFound,
    ExportNotRepeatable,
    ExportRefused,
    QueueFull,
    TooManyExports,
)
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import ExportState, Failure, Format
from orders.models import OrderStatus
from tests.orders.exports.factories import a_person, an_export
from tests.orders.factories import at_once

pytestmark = pytest.mark.django_db


def test_a_request_is_a_row_and_a_command_in_one_commit() -> None:
    export = an_export()
    assert published() == [ExportRequested(export_id=export.pk)]
    assert (export.state, export.percent) == (ExportState.QUEUED, 0)


def test_a_person_has_at_most_two_at_a_time() -> None:
    person = a_person()
    an_export(person)
    second = an_export(person)
    with pytest.raises(TooManyExports, match="at most 2"):
        an_export(person)
    an_export(a_person("bob"))  # others are not concerned
    Export.objects.cancel(second.pk)
    an_export(person)
    assert len(published()) == 4


@pytest.mark.django_db(transaction=True)
def test_of_twenty_that_ask_at_once_two_get_one() -> None:
    person = a_person()

    def ask() -> bool:
        try:
            an_export(person)
        except TooManyExports:
            return False
        return True

    assert sum(at_once(ask)) == 2
    assert Export.objects.count() == len(published()) == 2


@pytest.mark.django_db(transaction=True)
def test_the_queue_takes_so_many_and_no_more_however_many_people_race(settings: Any) -> None:
    settings.EXPORTS = {**settings.EXPORTS, "MAX_ACTIVE": 5}
    people = iter([a_person(f"p{number}") for number in range(20)])

    def ask() -> str:
        try:
            an_export(next(people))
        except ExportRefused as refusal:
            return refusal.code
        return "accepted"

    assert sorted(at_once(ask)) == ["accepted"] * 5 + [QueueFull.code] * 15


def test_cancelling_twice_is_no_error_and_of_a_finished_one_is() -> None:
    person = a_person()
    export = an_export(person)
    for _ in range(2):
        assert services.cancel_export(user=person, export_id=export.pk).state == ExportState.CANCELLED
    failed = an_export(person)
    Export.objects.fail_waiting(failed.pk, Failure.UNDELIVERED)
    with pytest.raises(ExportNotActive, match="is failed"):
        services.cancel_export(user=person, export_id=failed.pk)


def test_a_repetition_is_an_export_of_its_own_with_the_same_selection_and_limits() -> None:
    person = a_person()
    export = services.request_export(
        user=person, file_format=Format.XLSX, selection=Selection(status=OrderStatus.CONFIRMED), language="ja"
    )
    with pytest.raises(ExportNotRepeatable):
        services.repeat_export(user=person, export_id=export.pk)
    Export.objects.cancel(export.pk)
    again = services.repeat_export(user=person, export_id=export.pk)
    assert again.pk != export.pk
    assert (again.selection, again.format, again.language) == ({"status": "confirmed"}, "xlsx", "ja")
    an_export(person)
    with pytest.raises(TooManyExports):
        services.repeat_export(user=person, export_id=export.pk)


def test_what_is_not_yours_is_not_there() -> None:
    export = an_export(a_person("ann"))
    for act in (services.cancel_export, services.repeat_export):
        with pytest.raises(ExportNotFound):
            act(user=a_person(f"bob-{act.__name__}"), export_id=export.pk)


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"state": "ready", "finished_at": Now()}, "export_ready_means_whole"),
        ({"state": "running"}, "export_running_means_leased"),
        ({"state": "failed", "finished_at": Now()}, "export_failed_has_a_reason"),
        ({"state": "cancelled"}, "export_finished_at_says_what_state_says"),
        ({"cleaned_at": Now()}, "export_file_outlives_no_download"),
        ({"format": "pdf"}, "export_format_known"),
    ],
)
def test_the_database_refuses_a_row_that_contradicts_itself(changes: dict[str, Any], constraint: str) -> None:
    an_export()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Export.objects.update(**changes)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_that_claim_at_once_one_holds_it() -> None:
    export = an_export()
    holds = [hold for hold in at_once(lambda: Export.objects.claim(export.pk, worker="w")) if hold]
    assert [hold.attempt for hold in holds] == [1]
