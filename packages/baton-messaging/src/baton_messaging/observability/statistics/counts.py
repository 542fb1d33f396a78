"""Counts of the last minutes, read from the tables: three statements, each set-at-a-time and by an index.

When an event happened is read from its message's id (UUIDv7, made when it is published), so that the lag needs no look
at the outbox for every message. *Source*: RFC 9562, section 5.7.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from baton_messaging.models.dead_letter import RELAY, Reason
from baton_messaging.models.statistics import Counts
from baton_messaging.observability.statistics.histogram import DURATION_BOUNDS, LAG_BOUNDS
from baton_messaging.routing.subscriptions import all_consumers, subscription_named

# Deaths that are a failed run of the handler; in the others it never ran, or gave no answer.
FAILED_RUNS = {Reason.RETRIES_SPENT, Reason.PERMANENT_ERROR, Reason.TIME_LIMIT}

# An edited copy takes the place of its original by an inbox row that nobody processed: dead_letters/editing.
_PROCESSED = """
    WITH processed AS (
        SELECT date_trunc('minute', processed_at) AS minute, consumer, duration_ms / 1000.0::float8 AS seconds,
            CASE WHEN substr(message_id::text, 15, 1) = '7' THEN greatest(0, extract(epoch FROM processed_at)
                - ('x' || translate(left(message_id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)::float8 END AS lag
        FROM baton_inbox
        WHERE id > %(inbox_id)s AND processed_at >= %(since)s AND worker NOT LIKE 'replaced by %%'
    )
    SELECT minute, consumer, width_bucket(seconds - 1e-9, %(duration_bounds)s::float8[]) AS duration_bucket,
        width_bucket(lag - 1e-9, %(lag_bounds)s::float8[]) AS lag_bucket,
        count(*), sum(seconds), coalesce(sum(lag), 0)
    FROM processed GROUP BY minute, consumer, duration_bucket, lag_bucket
"""

_RETRIED = """
    SELECT date_trunc('minute', failed_at) AS minute, consumer, count(*) FROM baton_attempt
    WHERE consumer = ANY(%(consumers)s) AND failed_at >= %(since)s AND attempt >= 1 GROUP BY minute, consumer
"""

# A copy that waits for its first run has the time of its original's death.
_DEAD = """
    SELECT date_trunc('minute', died_at) AS minute, consumer, reason, count(*) FROM baton_dead_letter
    WHERE state IN ('open', 'requested', 'resolved', 'discarded') AND died_at >= %(since)s
      AND (copy_of_id IS NULL OR state = 'open')
    GROUP BY minute, consumer, reason
"""


# Whoever can write to the broker can make up names of tasks: they are counted together, not each for itself.
UNKNOWN = "(unknown)"


def counted_as(consumer: str) -> str:
    """Return the name that a consumer's figures go by."""
    return consumer if consumer == RELAY or subscription_named(consumer) else UNKNOWN


class Place(NamedTuple):
    """A minute of a consumer."""

    minute: datetime
    consumer: str


CountsByPlace = dict[Place, Counts]


def counts_since(since: datetime, *, inbox_id: int, new: Callable[[Place], Counts]) -> CountsByPlace:
    """Return what is known of every minute from ``since`` on; ``inbox_id``: no inbox row up to it is of such a one."""
    counts: CountsByPlace = _CountsByPlace(new)
    for minute, consumer, *counted in _rows(
        _PROCESSED, since=since, inbox_id=inbox_id, duration_bounds=[*DURATION_BOUNDS], lag_bounds=[*LAG_BOUNDS]
    ):
        _add_processed(counts[Place(minute, consumer)], _Handled(*counted))
    for minute, consumer, count in _rows(_RETRIED, since=since, consumers=all_consumers()):
        row = counts[Place(minute, consumer)]
        row.retried_count += count
        row.failed_count += count
    for minute, consumer, reason, count in _rows(_DEAD, since=since):
        row = counts[Place(minute, counted_as(consumer))]
        row.dead_counts[reason] = row.dead_counts.get(reason, 0) + count
        row.failed_count += count if reason in FAILED_RUNS else 0
    return dict(counts)


class _CountsByPlace(defaultdict[Place, Counts]):
    def __init__(self, new: Callable[[Place], Counts]) -> None:
        super().__init__()
        self._new = new

    def __missing__(self, place: Place) -> Counts:
        self[place] = row = self._new(place)
        return row


class _Handled(NamedTuple):
    """Messages of one minute whose durations are in one bucket and whose lags are in one."""

    duration_bucket: int
    lag_bucket: int | None
    message_count: int
    seconds: float
    lag_seconds: float


def _add_processed(row: Counts, handled: _Handled) -> None:
    duration_bucket, lag_bucket, message_count, seconds, lag_seconds = handled
    row.processed_count += message_count
    row.duration_counts = row.duration_counts or [0] * (len(DURATION_BOUNDS) + 1)
    row.duration_counts[duration_bucket] += message_count
    row.duration_seconds += seconds
    if lag_bucket is not None:
        row.lag_counts = row.lag_counts or [0] * (len(LAG_BOUNDS) + 1)
        row.lag_counts[lag_bucket] += message_count
        row.lag_seconds += lag_seconds


def _rows(statement: str, **parameters: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
