"""What the clock does: abandoned exports are taken up or ended, expired files go and leave a trace."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from baton_messaging.testing import published
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from orders.events import ExportRequested
from orders.exports import files, housekeeping
from orders.exports.building import build
from orders.exports.lease import Hold
from orders.exports.models import Export
from orders.exports.states import ExportState, Failure
from tests.orders.exports.factories import an_export

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("storage_folder")]

LONG_AGO = Now() - timedelta(days=365)


def take_up() -> int:
    return housekeeping.take_up_abandoned()


def abandoned(export: Export, *, running_for: timedelta = timedelta(seconds=60), attempts: int = 1) -> Export:
    """Leave it as a killed worker does: running, with a lease that is over."""
    assert Export.objects.claim(export.pk, worker="killed")
    Export.objects.filter(pk=export.pk).update(
        lease_expires_at=Now() - timedelta(seconds=1),
        started_at=Now() - timedelta(seconds=1) - running_for,
        attempt_count=attempts,
    )
    return export


def fresh(export: Export) -> Export:
    export.refresh_from_db()
    return export


def test_an_abandoned_export_waits_for_the_next_worker() -> None:
    export = abandoned(an_export())
    running = an_export()
    assert Export.objects.claim(running.pk, worker="alive")
    assert take_up() == 1
    assert take_up() == 0
    assert (fresh(export).state, fresh(running).state) == (ExportState.QUEUED, ExportState.RUNNING)
    assert len(published(ExportRequested, key=export.pk)) == 2
    build(export.pk, worker="next")
    assert (fresh(export).state, export.attempt_count) == (ExportState.READY, 2)


@pytest.mark.django_db
def test_an_export_that_kills_its_workers_is_given_up() -> None:
    export = abandoned(an_export(), attempts=3)
    build(export.pk, worker="redelivered")  # it is not even begun again
    assert fresh(export).attempt_count == 3
    assert take_up() == 1
    assert (fresh(export).state, export.failure, export.limit) == (ExportState.FAILED, Failure.WORKER_LOST, 3)


@pytest.mark.django_db
def test_an_export_that_hit_the_hard_time_limit_is_ended_and_names_it() -> None:
    export = abandoned(an_export(), running_for=timedelta(seconds=1_260 + 4))
    build(export.pk, worker="redelivered")  # it is not begun again, though nobody holds it
    assert fresh(export).attempt_count == 1
    assert take_up() == 1
    assert (fresh(export).state, export.failure, export.limit) == (ExportState.FAILED, Failure.TIME_LIMIT, 1_260)


@pytest.mark.django_db
def test_a_hard_time_limit_is_named_though_the_lease_ends_while_somebody_looks() -> None:
    export = an_export()
    assert Export.objects.claim(export.pk, worker="killed")
    Export.objects.update(started_at=Now() - timedelta(seconds=1_260))

    looks: list[str] = []

    def end_the_lease_after_the_first_look(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if not looks:
            looks.append(sql)
            Export.objects.update(lease_expires_at=Now() - timedelta(microseconds=1))
        return found

    with connection.execute_wrapper(end_the_lease_after_the_first_look):
        take_up()
    take_up()
    assert (fresh(export).state, export.failure, export.limit) == (ExportState.FAILED, Failure.TIME_LIMIT, 1_260)


@pytest.mark.django_db
def test_an_export_that_ran_out_of_time_can_neither_be_put_back_nor_called_lost() -> None:
    export = abandoned(an_export(), running_for=timedelta(seconds=1_260 + 4))
    hold = Hold(export.pk, 1)
    assert not Export.objects.put_back(hold)
    assert not Export.objects.fail_abandoned(hold, Failure.WORKER_LOST, limit=1)
    assert Export.objects.fail_out_of_time(hold, limit=1_260)


@pytest.mark.django_db
def test_an_export_with_time_left_is_not_out_of_time() -> None:
    export = abandoned(an_export())
    assert not Export.objects.fail_out_of_time(Hold(export.pk, 1), limit=1_260)
    assert Export.objects.put_back(Hold(export.pk, 1))


@pytest.mark.django_db
def test_an_export_that_was_killed_before_its_limit_and_found_after_it_is_taken_up() -> None:
    export = abandoned(an_export())
    hours_ago = Now() - timedelta(hours=2)
    Export.objects.update(started_at=hours_ago, lease_expires_at=hours_ago + timedelta(seconds=1_190))
    assert take_up() == 1
    assert fresh(export).state == ExportState.QUEUED


def test_a_file_whose_time_is_over_goes_and_its_row_stays(storage_folder: Path) -> None:
    export = an_export()
    build(export.pk, worker="w")
    assert fresh(export).expires_at == export.finished_at + timedelta(days=7)  # type: ignore[operator]
    assert (housekeeping.expire_due(), housekeeping.clean()) == (0, 0)
    Export.objects.update(expires_at=Now() - timedelta(hours=2), finished_at=LONG_AGO)
    assert (housekeeping.expire_due(), housekeeping.clean()) == (1, 1)
    assert (housekeeping.expire_due(), housekeeping.clean()) == (0, 0)
    assert (fresh(export).state, export.file_name) == (ExportState.EXPIRED, f"{export.pk}-1.csv")
    assert export.cleaned_at is not None
    assert list(storage_folder.iterdir()) == []


@pytest.mark.django_db
def test_what_killed_attempts_put_in_place_goes_too(storage_folder: Path) -> None:
    export = abandoned(an_export(), attempts=2)
    storage_folder.mkdir()
    for attempt in (1, 2):
        (storage_folder / files.file_name(export.pk, attempt, "csv")).touch()
    Export.objects.cancel(export.pk)
    assert housekeeping.clean() == 0  # its builder may not have heard of it yet
    Export.objects.update(finished_at=LONG_AGO)
    assert housekeeping.clean() == 1
    assert list(storage_folder.iterdir()) == []


@pytest.mark.django_db
def test_a_storage_that_is_down_is_asked_again_later(settings: Any, storage_folder: Path) -> None:
    export = an_export()
    assert Export.objects.claim(export.pk, worker="w")
    Export.objects.cancel(export.pk)
    Export.objects.update(finished_at=LONG_AGO)
    backend = settings.STORAGES["exports"]
    settings.STORAGES = {**settings.STORAGES, "exports": {**backend, "BACKEND": "tests.orders.exports.storages.Broken"}}
    assert housekeeping.clean() == 0
    settings.STORAGES = {**settings.STORAGES, "exports": backend}
    assert housekeeping.clean() == 1


@pytest.mark.django_db
def test_rows_are_forgotten_long_after_their_files() -> None:
    kept, old = an_export(), an_export()
    Export.objects.update(state=ExportState.CANCELLED, finished_at=Now(), cleaned_at=Now())
    Export.objects.filter(pk=old.pk).update(cleaned_at=F("cleaned_at") - timedelta(days=91))
    assert housekeeping.forget_old() == 1
    assert Export.objects.get() == kept
