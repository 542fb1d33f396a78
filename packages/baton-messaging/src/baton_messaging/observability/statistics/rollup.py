"""The rollup of figures, every minute: recompute the minutes that are open, then fold those that are over.

Safe to repeat and to miss: it begins where the last fold ended, however long ago. A row may become visible after the
minute it belongs to, at most as long as a transaction of a consumer lasts; only then is a minute folded. A count that
is recomputed never goes down (a dead letter that dies again leaves the minute of its first death).
"""

import math
from datetime import datetime, timedelta
from typing import Final, cast

from celery import current_app
from django.db import connection, transaction
from django.db.models.functions import Now

from baton_messaging.consumer import ConsumerTask
from baton_messaging.models.statistics import COUNTED, COUNTS, HISTOGRAMS, SUMS, Counts, Minute, Rollup, Total
from baton_messaging.observability.statistics.counts import Place, counts_since
from baton_messaging.observability.statistics.histogram import added, highest
from baton_messaging.routing.subscriptions import import_consumers

# Redeliveries are counted as they happen (count_redelivery).
RECOMPUTED: Final = tuple(name for name in COUNTED if name != "redelivered_count")
SPARE_SECONDS: Final = 60  # for a commit that waits, beyond the limit of its task

_INBOX_ID: Final = """
    SELECT least(max(id) FILTER (WHERE processed_at < %(until)s), min(id) FILTER (WHERE processed_at >= %(until)s) - 1)
    FROM baton_inbox WHERE id > %(inbox_id)s
"""


def roll_up() -> int:
    """Bring minutes and totals up to date; return the number of open minutes, 0 when somebody else is at it."""
    with transaction.atomic():
        now = _now()
        state = _locked_state(now)
        if state is None:
            return 0
        open_count = _recompute(state)
        _fold(state, until=max(state.folded_until, _whole_minute(now - settle_time())))
    return open_count


def settle_time() -> timedelta:
    """Return how long after a minute nothing can be added to it any more: the longest transaction of a consumer."""
    import_consumers()
    tasks = [task for task in current_app.tasks.values() if isinstance(task, ConsumerTask) and task.atomic]
    longest = max((task.time_limit for task in tasks), default=ConsumerTask.time_limit)
    return timedelta(minutes=math.ceil((longest + SPARE_SECONDS) / 60))


def _locked_state(now: datetime) -> Rollup | None:
    start = _whole_minute(now - settle_time())
    Rollup.objects.bulk_create([Rollup(pk=1, folded_until=start)], ignore_conflicts=True)
    return Rollup.objects.select_for_update(skip_locked=True).first()


def _recompute(state: Rollup) -> int:
    known: dict[Place, Counts] = {Place(row.minute, row.consumer): row for row in Minute.objects.open()}
    found = counts_since(state.folded_until, inbox_id=state.inbox_id, new=lambda place: Minute(**place._asdict()))
    for place, row in found.items():
        if place in known:
            _raise_to(row, known[place])
    Minute.objects.bulk_create(
        [row for _place, row in sorted(found.items()) if isinstance(row, Minute)],
        update_conflicts=True,
        unique_fields=["minute", "consumer"],
        update_fields=RECOMPUTED,
    )
    return len(known.keys() | found.keys())


def _fold(state: Rollup, *, until: datetime) -> None:
    over = Minute.objects.open().filter(minute__lt=until).select_for_update().order_by("pk")
    totals = {total.consumer: total for total in Total.objects.select_for_update().order_by("pk")}
    folded = []
    for minute in over:
        _add(totals.setdefault(minute.consumer, Total(consumer=minute.consumer)), minute)
        folded.append(minute.pk)
    changed = [total for _consumer, total in sorted(totals.items())]
    Total.objects.bulk_create(changed, update_conflicts=True, unique_fields=["consumer"], update_fields=COUNTED)
    Minute.objects.filter(pk__in=folded).update(is_folded=True)
    inbox_id = _inbox_id(state, until)
    Rollup.objects.filter(pk=state.pk).update(folded_until=until, inbox_id=inbox_id, rolled_up_at=Now())


def _inbox_id(state: Rollup, until: datetime) -> int:
    """Return an id up to which no inbox row belongs to a minute from ``until`` on, also of those not committed yet.

    Those have ids above every row that was finished before ``until``: they were begun after it.
    """
    with connection.cursor() as cursor:
        cursor.execute(_INBOX_ID, {"until": until, "inbox_id": state.inbox_id})
        (found,) = cursor.fetchone()
    return state.inbox_id if found is None else max(found, state.inbox_id)


def _raise_to(row: Counts, known: Counts) -> None:
    for name in (*COUNTS, *SUMS):
        setattr(row, name, max(getattr(row, name), getattr(known, name)))
    for name in HISTOGRAMS:
        setattr(row, name, highest(getattr(row, name), getattr(known, name)))
    for reason, count in known.dead_counts.items():
        row.dead_counts[reason] = max(row.dead_counts.get(reason, 0), count)


def _add(total: Counts, minute: Counts) -> None:
    for name in (*COUNTS, *SUMS):
        setattr(total, name, getattr(total, name) + getattr(minute, name))
    for name in HISTOGRAMS:
        setattr(total, name, added(getattr(total, name), getattr(minute, name)))
    for reason, count in minute.dead_counts.items():
        total.dead_counts[reason] = total.dead_counts.get(reason, 0) + count


def _whole_minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _now() -> datetime:
    """Return the database's time: the rows' times are its."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return cast("datetime", now)
