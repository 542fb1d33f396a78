"""Count deliveries that are not the first: the one figure that no other row tells.

It costs such a delivery one statement, and all others nothing. A count that cannot be written is lost; the message is
not.
"""

from typing import Final

import structlog
from django.db import DatabaseError, connection

log = structlog.get_logger(__name__)

_COUNT: Final = """
    INSERT INTO baton_minute AS known (minute, consumer, is_folded, processed_count, failed_count, retried_count,
        redelivered_count, dead_counts, duration_counts, duration_seconds, lag_counts, lag_seconds)
    VALUES (date_trunc('minute', clock_timestamp()), %s, false, 0, 0, 0, 1, '{}', '{}', 0, '{}', 0)
    ON CONFLICT (minute, consumer) DO UPDATE SET redelivered_count = known.redelivered_count + 1
"""


def count_redelivery(consumer: str) -> None:
    """Add one to this minute. Call outside a transaction, so that it stays whatever becomes of the message."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, [consumer])
    except DatabaseError as error:
        log.warning("redelivery_not_counted", consumer=consumer, error_class=type(error).__name__)
