"""Outbox rows that need no looking after any more are settled, so that "what is missing?" stays a cheap question.

A published row is settled once each consumer that it was sent to has processed it (an inbox row) or has its dead
letter, in whatever state: from then on the dead letter is what is watched (losses.py looks at requested replays). A row
that was for no consumer is settled at once. Settled is final, but for an unknown event that a replay publishes anew: a
row that is put back while we look is not the one that we looked at.
"""

from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection, transaction

PAGE_SIZE: Final = 5_000  # rows looked at in one statement: some tens of milliseconds
MAX_PAGES: Final = 200  # looked at in one go: behind a backlog of a million rows the others may wait to be marked
_LOCK: Final = 7_265_636_001  # any number of its own: who else asks for it is another reconciler

#: Of a row of ``page``: a consumer that it was sent to has neither processed it nor its dead letter.
IS_MISSING_SOMEWHERE: Final = """EXISTS (
    SELECT 1 FROM unnest(page.sent_to) AS addressee (consumer)
    WHERE NOT EXISTS (
        SELECT 1 FROM baton_inbox AS processed
        WHERE processed.message_id = page.message_id AND processed.consumer = addressee.consumer
    ) AND NOT EXISTS (
        SELECT 1 FROM baton_dead_letter AS dead_letter
        WHERE dead_letter.message_id = page.message_id AND dead_letter.consumer = addressee.consumer))"""
_SETTLE: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT id, message_id, published_at, sent_to FROM baton_outbox
        WHERE published_at IS NOT NULL AND settled_at IS NULL AND (published_at, id) > (%(after_at)s, %(after_id)s)
        ORDER BY published_at, id LIMIT %(limit)s
    ), settled AS (
        UPDATE baton_outbox AS message SET settled_at = clock_timestamp()
        FROM page
        WHERE message.id = page.id AND message.settled_at IS NULL AND message.published_at = page.published_at
          AND NOT {IS_MISSING_SOMEWHERE}
        RETURNING 1
    )
    SELECT published_at, id, (SELECT count(*) FROM settled), (SELECT count(*) FROM page)
    FROM page ORDER BY published_at DESC, id DESC LIMIT 1
"""  # noqa: S608 - put together of constants

_Place = tuple[datetime, int]  # when a row was published, and its id
_START: Final[_Place] = (datetime(1970, 1, 1, tzinfo=UTC), 0)


def settle() -> int:
    """Mark what is settled, page by page; return how many rows. Nothing when another reconciler is at it."""
    total = 0
    place = _START
    for _ in range(MAX_PAGES):
        following, count = _settle_page(place)
        total += count
        if following is None:
            break
        place = following
    return total


def _settle_page(after: _Place) -> tuple[_Place | None, int]:
    """Settle one page; return where it ended (None: there is no other) and how many rows were settled."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        if cursor.fetchone() != (True,):
            return None, 0
        arguments: dict[str, Any] = {"after_at": after[0], "after_id": after[1], "limit": PAGE_SIZE}
        cursor.execute(_SETTLE, arguments)
        row = cursor.fetchone()
    if row is None:
        return None, 0
    published_at, row_id, settled_count, page_count = row
    return ((published_at, row_id) if page_count == PAGE_SIZE else None), settled_count
