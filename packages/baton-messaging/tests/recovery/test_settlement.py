"""Which outbox rows need no looking after any more."""

import threading
from collections.abc import Sequence

import pytest
from baton_messaging.models import OutboxMessage
from baton_messaging.recovery import settlement
from baton_messaging.recovery.settlement import settle
from django.db import connection, transaction

from tests.recovery.situations import die, process, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def settled() -> set[int]:
    return set(OutboxMessage.objects.exclude(settled_at=None).values_list("pk", flat=True))


def address(rows: Sequence[OutboxMessage], *consumers: str) -> None:
    OutboxMessage.objects.filter(pk__in=[row.pk for row in rows]).update(sent_to=list(consumers))


def test_a_row_is_settled_once_each_of_its_consumers_has_processed_it_or_has_its_dead_letter() -> None:
    done, dead, half, nobody = send(4)
    address([done, half], "sample.take_one", "sample.follow")
    address([nobody])
    process([done, half])
    process([done], "sample.follow")
    die(dead)
    assert settle() == 3
    assert settled() == {done.pk, dead.pk, nobody.pk}
    process([half], "sample.follow")
    assert settle() == 1
    assert settle() == 0


def test_what_was_not_sent_is_not_settled() -> None:
    (row,) = send()
    process([row])
    OutboxMessage.objects.update(published_at=None)
    assert settle() == 0


def test_unsettled_rows_in_front_keep_no_later_ones_from_being_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settlement, "PAGE_SIZE", 2)
    rows = send(7)
    process(rows[4:])
    assert settle() == 3
    assert settled() == {row.pk for row in rows[4:]}


def test_two_reconcilers_at_once_do_not_wait_for_each_other() -> None:
    process(send(3))
    counts: list[int] = []

    def second() -> None:
        try:
            counts.append(settle())
        finally:
            connection.close()

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [settlement._LOCK])
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(10)
        assert counts == [0]
    assert settle() == 3


def test_a_row_that_a_replay_puts_back_meanwhile_is_not_settled() -> None:
    (row,) = send()
    process([row])

    def second() -> None:
        try:
            settle()
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        OutboxMessage.objects.update(
            published_at=None
        )  # as baton_messaging/dead_letters/operations/replay_rows.py does
        thread.start()
        thread.join(1)  # it waits for us
    thread.join(10)
    assert not settled()
