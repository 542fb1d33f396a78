"""The outbox in figures: what waits, for how long, and how fast it is filled and emptied. One query."""

from datetime import timedelta
from typing import Final, NamedTuple

from django.db import connection

from baton_messaging.models.dead_letter import RELAY

NEWEST: Final = 1_000  # rows that the pace is read from, by the primary key: the table may have ten millions

# What a replay has put back is old, and leaves at the pace of the replay: its age tells nothing of the relay.
_STANDING: Final = """
    WITH newest AS (SELECT occurred_at, published_at FROM baton_outbox ORDER BY id DESC LIMIT %(newest)s)
    SELECT (SELECT count(*) FROM baton_outbox WHERE published_at IS NULL),
        (SELECT clock_timestamp() - occurred_at FROM baton_outbox
         WHERE published_at IS NULL AND message_id NOT IN (
            SELECT message_id FROM baton_dead_letter
            WHERE state = 'requested' AND consumer = %(relay)s AND message_id IS NOT NULL)
         ORDER BY id LIMIT 1),
        (SELECT avg(published_at - occurred_at) FROM newest),
        (SELECT count(*) FROM newest WHERE occurred_at > clock_timestamp() - interval '1 minute'),
        (SELECT clock_timestamp() - min(occurred_at) FROM newest)
"""


class OutboxStanding(NamedTuple):
    """What waits (count, seconds), from commit to broker (seconds), and what is published in a minute (count)."""

    waiting_count: int
    oldest_age_seconds: float
    lag_seconds: float
    rate_per_minute: float


def outbox_standing() -> OutboxStanding:
    """Return how it stands now, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, {"newest": NEWEST, "relay": RELAY})
        waiting_count, oldest, lag, minute_count, span = cursor.fetchone()
    rate = minute_count if minute_count < NEWEST else NEWEST * 60 / max(_seconds(span), 0.001)
    return OutboxStanding(waiting_count, _seconds(oldest), _seconds(lag), rate)


def _seconds(age: timedelta | None) -> float:
    return max(age.total_seconds(), 0.0) if age is not None else 0.0
