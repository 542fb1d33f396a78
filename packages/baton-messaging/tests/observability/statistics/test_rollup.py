from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_messaging.models import Attempt, DeadLetter, Minute, ProcessedMessage, Rollup
from baton_messaging.models.dead_letter import Reason
from baton_messaging.observability.statistics.counts import counts_since
from baton_messaging.observability.statistics.histogram import DURATION_BOUNDS
from baton_messaging.observability.statistics.rollup import roll_up, settle_time
from baton_messaging.observability.statistics.totals import totals
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from uuid_utils.compat import uuid7

from tests.dead_letters.factories import a_letter

pytestmark = pytest.mark.django_db(transaction=True)

CONSUMER = "sample.take_one"


def processed(count: int = 1, *, ago: float = 0, duration_ms: int = 7, consumer: str = CONSUMER) -> list[UUID]:
    """Put messages into the inbox as if they had been processed some seconds ago."""
    ids = [uuid7() for _ in range(count)]
    ProcessedMessage.objects.bulk_create(
        ProcessedMessage(
            message_id=message_id,
            consumer=consumer,
            processed_at=timezone.now() - timedelta(seconds=ago),
            duration_ms=duration_ms,
        )
        for message_id in ids
    )
    return ids


def failed(*, ago: float = 0, consumer: str = CONSUMER, attempt: int = 1) -> None:
    now = timezone.now()
    Attempt.objects.create(
        message_id=uuid4(),
        consumer=consumer,
        attempt=attempt,
        key="k",
        envelope={},
        error_class="E",
        failed_at=now - timedelta(seconds=ago),
        due_at=now,
    )


def let_minutes_pass(minutes: int) -> None:
    """Make everything older, as if it had happened before."""
    age: Any = timedelta(minutes=minutes)
    for minute in Minute.objects.order_by("minute"):  # one by one, so that none meets its neighbour
        Minute.objects.filter(pk=minute.pk).update(minute=minute.minute - age)
    with connection.cursor() as cursor:
        for table, column in (
            ("baton_inbox", "processed_at"),
            ("baton_attempt", "failed_at"),
            ("baton_dead_letter", "died_at"),
            ("baton_rollup", "folded_until"),
        ):
            cursor.execute(f"UPDATE {table} SET {column} = {column} - %s", [age])


def test_what_happened_is_counted_by_consumer() -> None:
    processed(3, duration_ms=7)
    processed(1, duration_ms=700_000)
    processed(2, consumer="sample.follow")
    failed()
    failed(attempt=0)  # what a replay or a pause put back: nothing has failed
    a_letter(consumer=CONSUMER, reason=Reason.RETRIES_SPENT)
    a_letter(consumer=CONSUMER, reason=Reason.UNDECODABLE)

    roll_up()

    found = totals()
    one = found[CONSUMER]
    assert (one.processed_count, one.retried_count, one.failed_count) == (4, 1, 2)
    assert one.dead_counts == {"retries_spent": 1, "undecodable": 1}
    assert one.duration_counts == [0, 3, *[0] * 12, 1, 0]
    assert one.duration_seconds == pytest.approx(700.021)
    assert found["sample.follow"].processed_count == 2


def test_a_duration_on_a_bound_counts_below_it() -> None:
    for bound in (DURATION_BOUNDS[0], DURATION_BOUNDS[8]):
        processed(duration_ms=round(bound * 1000))
    roll_up()
    counts = totals()[CONSUMER].duration_counts
    assert (counts[0], counts[8]) == (1, 1)


def test_the_lag_is_the_time_since_the_event() -> None:
    (message_id,) = processed()
    ProcessedMessage.objects.create(message_id=uuid4(), consumer=CONSUMER)  # an id that tells no time: no lag
    made_at = datetime.fromtimestamp(int(str(message_id).replace("-", "")[:12], 16) / 1000, tz=timezone.now().tzinfo)
    ProcessedMessage.objects.filter(message_id=message_id).update(processed_at=made_at + timedelta(seconds=3))
    roll_up()
    figures = totals()[CONSUMER]
    assert figures.lag_seconds == pytest.approx(3, abs=0.002)
    assert sum(figures.lag_counts) == 1
    assert sum(figures.duration_counts) == 2


def test_rolling_up_again_changes_nothing_and_adds_what_is_new() -> None:
    processed(3)
    roll_up()
    roll_up()
    assert totals()[CONSUMER].processed_count == 3
    processed(2)
    roll_up()
    assert totals()[CONSUMER].processed_count == 5


def test_an_hour_without_a_rollup_is_caught_up() -> None:
    roll_up()
    for ago in range(0, 3600, 600):
        processed(1, ago=ago)
        failed(ago=ago)
    Rollup.objects.update(folded_until=(timezone.now() - timedelta(hours=2)).replace(second=0, microsecond=0))
    roll_up()
    assert (totals()[CONSUMER].processed_count, totals()[CONSUMER].failed_count) == (6, 6)
    over = [ago for ago in range(0, 3600, 600) if timedelta(seconds=ago) > settle_time()]
    assert Minute.objects.filter(is_folded=True).count() >= len(over) > 1


def test_totals_never_go_down_whatever_becomes_of_the_rows() -> None:
    processed(3)
    failed()
    letter = a_letter(consumer=CONSUMER)
    roll_up()
    for step in range(6):
        let_minutes_pass(settle_time() // timedelta(minutes=5) + 1)  # the rows go before they are folded
        if step == 0:  # it dies again: its row tells of one death, and of the later one
            DeadLetter.objects.filter(pk=letter.pk).update(died_at=timezone.now())
        if step == 4:
            ProcessedMessage.objects.all().delete()
            Attempt.objects.all().delete()
            DeadLetter.objects.all().delete()
        roll_up()
        figures = totals()[CONSUMER]
        assert (figures.processed_count, figures.retried_count, figures.dead_count) == (3, 1, 2)
    assert not Minute.objects.open().exists()
    Minute.objects.all().delete()
    assert totals()[CONSUMER].processed_count == 3


def test_what_is_committed_late_is_counted_in_the_minute_it_belongs_to() -> None:
    processed(1)
    roll_up()
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:  # claimed before the later ones, not committed yet
            cursor.execute(
                "INSERT INTO baton_inbox (message_id, consumer, processed_at, duration_ms, worker)"
                " VALUES (%s, %s, clock_timestamp(), 1, '')",
                [uuid7(), CONSUMER],
            )
        processed(1)
        roll_up()
        assert totals()[CONSUMER].processed_count == 2
        other.commit()
    finally:
        other.close()
    roll_up()
    assert totals()[CONSUMER].processed_count == 3


def test_a_minute_is_folded_only_when_no_transaction_can_add_to_it() -> None:
    processed(1)
    roll_up()
    let_minutes_pass(int(settle_time().total_seconds() // 60) - 1)
    roll_up()
    assert Minute.objects.open().count() == 1
    let_minutes_pass(2)
    roll_up()
    assert Minute.objects.open().count() == 0
    assert settle_time() >= timedelta(seconds=120)


def test_of_two_that_roll_up_one_does() -> None:
    roll_up()
    processed(1)
    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        Rollup.objects.select_for_update().get()
        assert thread.submit(_roll_up_and_hang_up).result() == 0
    assert roll_up() == 1


def _roll_up_and_hang_up() -> int:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        return roll_up()
    finally:
        connection.close()


def test_redeliveries_are_counted_as_they_happen_and_survive_the_rollup() -> None:
    processed(1)
    Minute.objects.count_redelivery(CONSUMER)
    roll_up()
    Minute.objects.count_redelivery(CONSUMER)
    roll_up()
    figures = totals()[CONSUMER]
    assert (figures.redelivered_count, figures.processed_count) == (2, 1)
    let_minutes_pass(10)
    roll_up()
    assert totals()[CONSUMER].redelivered_count == 2


@pytest.fixture
def long_history() -> Iterator[int]:
    """An inbox, attempts and letters of which almost all are old."""
    tables = (
        (
            "baton_inbox (message_id, consumer, processed_at, duration_ms, worker)",
            "gen_random_uuid(), 'sample.take_one', now() - interval '1 day', 1, ''",
        ),
        (
            "baton_attempt (message_id, consumer, attempt, round, key, envelope, error_class, error_message, traceback,"
            " worker, failed_at, due_at)",
            "gen_random_uuid(), 'sample.take_one', 1, 0, 'k', '{}', 'E', '', '', '', now() - interval '1 day', now()",
        ),
        (
            "baton_dead_letter (consumer, event_name, key, owner, reason, error_class, error_message, traceback, raw,"
            " task_id, attempt_count, fingerprint, state, first_failed_at, died_at, replay_count)",
            "'sample.take_one', '', '', '', 'expired', '', '', '', '', '', 1, '', 'open', now(),"
            " now() - interval '1 day', 0",
        ),
    )
    with connection.cursor() as cursor:
        for columns, values in tables:
            cursor.execute(f"INSERT INTO {columns} SELECT {values} FROM generate_series(1, 20000)")
            cursor.execute(f"ANALYZE {columns.partition(' ')[0]}")
        cursor.execute("SELECT max(id) FROM baton_inbox")
        yield cursor.fetchone()[0]


def test_no_statement_reads_through_the_history(long_history: int) -> None:
    with CaptureQueriesContext(connection) as queries:
        counts_since(timezone.now(), inbox_id=long_history, new=lambda place: Minute(**place._asdict()))
    assert len(queries) == 3
    indexes = ("baton_inbox_pkey", "baton_attempt_newest", "baton_dead_letter_newest")
    with connection.cursor() as cursor:
        for query, index in zip(queries.captured_queries, indexes, strict=True):
            cursor.execute(f"EXPLAIN {query['sql']}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert index in plan, plan
            assert "Seq Scan" not in plan, plan
