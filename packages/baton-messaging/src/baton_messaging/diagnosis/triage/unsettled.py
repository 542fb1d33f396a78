"""Keys of what is not settled are found where that is cheap, the oldest first, and counted truly or as "at least".

The sources: the apps' own unsettled rows, the outbox, waiting attempts, open dead letters, and what was sent and is not
settled. Each has a partial index, so the price is that of what is stuck, not of what there was. Of what was sent only
that counts which a consumer has not processed: rows that are done and not marked yet, because no reconciler runs, must
not hide those that are stuck.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest
from typing import Final

from django.db import connection

from baton_messaging.diagnosis.triage.subjects import all_kinds
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.recovery.settlement import IS_MISSING_SOMEWHERE

MAX_COUNTED: Final = 10_000  # keys of one source; beyond that the figure means "at least"
MAX_LOOKED_AT: Final = 30_000  # sent rows, of which the consumers' marks are looked up: a third of a second

_SENT: Final = f"""
    WITH page AS MATERIALIZED (
        SELECT message_id, key, published_at, sent_to FROM baton_outbox
        WHERE settled_at IS NULL AND published_at < %(before)s ORDER BY published_at LIMIT %(looked_at)s
    )
    SELECT stuck.key, stuck.published_at, looked_at.count
    FROM (SELECT count(*) FROM page) AS looked_at LEFT JOIN (
        SELECT key, published_at FROM page WHERE {IS_MISSING_SOMEWHERE}
    ) AS stuck ON true
    ORDER BY stuck.published_at LIMIT %(limit)s
"""  # noqa: S608 - put together of constants

_Row = tuple[str, datetime | None]


@dataclass(frozen=True)
class Unsettled:
    """Keys with the time since when each waits (None: only its app knows), in the order in which they are judged.

    ``is_complete``: there are no others.
    """

    since: dict[str, datetime | None]
    is_complete: bool


def unsettled_keys(before: datetime) -> Unsettled:
    """Return what was made before that time and is not settled."""
    sources = [*(_of_app(kind.unsettled(before, MAX_COUNTED)) for kind in all_kinds()), *_of_tables(before)]
    sent, is_complete = _sent(before)
    rows = [list(source) for source in (*sources, sent)]
    since: dict[str, datetime | None] = {}
    for key, at in chain.from_iterable(rows):
        since[key] = min((moment for moment in (since.get(key), at) if moment), default=None)
    is_complete &= all(len(source) < MAX_COUNTED for source in rows)
    return Unsettled({key: since[key] for key in _in_order(since)}, is_complete)


def _of_app(keys: Iterable[str]) -> Iterator[_Row]:
    return ((key, None) for key in keys)


def _of_tables(before: datetime) -> Iterator[Iterator[_Row]]:
    waiting = OutboxMessage.objects.waiting().filter(occurred_at__lt=before).order_by("pk")
    yield waiting.values_list("key", "occurred_at")[:MAX_COUNTED].iterator()
    retried = Attempt.objects.filter(sent_at=None, failed_at__lt=before).order_by("due_at")
    yield retried.values_list("key", "failed_at")[:MAX_COUNTED].iterator()
    dead = DeadLetter.objects.open().filter(died_at__lt=before).exclude(key="").order_by("died_at")
    yield dead.values_list("key", "died_at")[:MAX_COUNTED].iterator()


def _sent(before: datetime) -> tuple[list[_Row], bool]:
    with connection.cursor() as cursor:
        cursor.execute(_SENT, {"before": before, "looked_at": MAX_LOOKED_AT, "limit": MAX_COUNTED})
        rows = cursor.fetchall()
    looked_at_count = rows[0][2]  # there is one, also when none is stuck
    return [(key, at) for key, at, _count in rows if key is not None], looked_at_count < MAX_LOOKED_AT


def _in_order(since: dict[str, datetime | None]) -> Iterator[str]:
    """Return the oldest first, and between them those whose age only their app knows."""
    timed = sorted((at, key) for key, at in since.items() if at)
    untimed = [key for key, at in since.items() if not at]
    pairs = zip_longest((key for _at, key in timed), untimed)
    return (key for pair in pairs for key in pair if key is not None)
