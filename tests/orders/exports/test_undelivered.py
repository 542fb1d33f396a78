"""An export ends as failed when the last message that commands it has died, and not before."""

from datetime import timedelta
from threading import Event, Thread

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.dead_letters.intake.record import record_dead_letter
from baton_messaging.messages.error_description import fault
from baton_messaging.models import OutboxMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.signals import dead_lettered
from django.db import connection, transaction
from django.db.models.functions import Now

from orders.exports import housekeeping
from orders.exports.models import Export
from orders.exports.states import ExportState, Failure
from tests.orders.exports.factories import an_export

pytestmark = pytest.mark.django_db
WAITS = (ExportState.QUEUED, "")
FAILED = (ExportState.FAILED, Failure.UNDELIVERED)


def commands_of(export: Export) -> list[OutboxMessage]:
    return list(OutboxMessage.objects.filter(key=str(export.pk)).order_by("pk"))


def die(message: OutboxMessage) -> None:
    with transaction.atomic():
        record_dead_letter(
            consumer="orders.build_export",
            envelope=message.envelope(),
            reason=Reason.KILLED_WORKER,
            error=fault("WorkerLost", "x"),
            attempt_count=4,
        )


def outcome(export: Export) -> tuple[str, str]:
    export.refresh_from_db()
    return export.state, export.failure


def leave(export: Export) -> None:
    """Let a worker claim it and be killed, for so long that its lease is over."""
    assert Export.objects.claim(export.pk, worker="killed")
    Export.objects.filter(pk=export.pk).update(lease_expires_at=Now() - timedelta(seconds=1))


def test_an_export_whose_only_command_died_is_failed() -> None:
    export = an_export()
    die(*commands_of(export))
    assert outcome(export) == FAILED


def test_an_export_that_runs_is_left_to_its_builder() -> None:
    export = an_export()
    assert Export.objects.claim(export.pk, worker="w")
    die(*commands_of(export))
    assert outcome(export) == (ExportState.RUNNING, "")


def test_a_forged_key_is_ignored() -> None:
    dead_lettered.send(None, key="no id", consumer="orders.build_export", message_id=None)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["the first dies first", "the second dies first"])
def test_an_export_that_was_taken_up_waits_until_both_its_commands_have_died(order: tuple[int, int]) -> None:
    export = an_export()
    leave(export)
    assert housekeeping.take_up_abandoned() == 1
    commands = commands_of(export)
    die(commands[order[0]])
    assert outcome(export) == WAITS
    die(commands[order[1]])
    assert outcome(export) == FAILED


@pytest.mark.django_db(transaction=True)
def test_an_export_is_left_alone_that_is_taken_up_while_its_first_command_dies() -> None:
    export = an_export()
    (first,) = commands_of(export)
    leave(export)
    is_taken_up, is_waiting = Event(), Event()

    def take_up() -> None:
        with transaction.atomic():
            housekeeping.take_up_abandoned()
            is_taken_up.set()
            is_waiting.wait(30)
        connection.close()

    def die_meanwhile() -> None:
        die(first)
        connection.close()

    thread, recording = Thread(target=take_up), Thread(target=die_meanwhile)
    thread.start()
    assert is_taken_up.wait(30)
    recording.start()
    wait_until(is_anybody_waiting_for_a_lock, what="the recording's wait for the export")
    is_waiting.set()
    for one in (thread, recording):
        one.join()
    assert outcome(export) == WAITS


def is_anybody_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        return cursor.fetchone() is not None
