"""Sizes and retention: is what is past its time deleted?"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, models
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.diagnosis.doctor.lines import Line, duration, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.models import Attempt, OutboxMessage, ProcessedMessage

#: Seconds that pruning may be behind: it runs every ten minutes, and a first run after an upgrade takes longer.
MAX_PRUNE_LAG_SECONDS: Final = 86_400


@examines("retention", needs=(DATABASE,))
def examine_retention() -> Iterator[Line]:
    """Compare the oldest row of each table that grows with its retention. The oldest have the lowest numbers."""
    yield _table(OutboxMessage, "published_at", baton().outbox_retention_days)
    yield _table(ProcessedMessage, "processed_at", baton().inbox_retention_days)
    yield _table(Attempt, "sent_at", baton().outbox_retention_days)


def _table(model: type[models.Model], column: str, days: float) -> Line:
    oldest: datetime | None = model._base_manager.order_by("pk").values_list(column, flat=True).first()
    allowed = timedelta(days=days, seconds=MAX_PRUNE_LAG_SECONDS)
    age = timezone.now() - oldest if oldest else timedelta(0)
    name = model._meta.verbose_name_plural
    return judged(
        age <= allowed,
        f"size of {name}",
        found=f"{_size(model)}, the oldest settled {duration(age.total_seconds())} ago" if oldest else _size(model),
        wanted=f"none kept longer than {days:g} days",
        remedy="See whether beat and a worker of the queue baton run: baton.prune deletes what is old.",
    )


def _size(model: type[models.Model]) -> str:
    statement = "SELECT pg_size_pretty(pg_total_relation_size(oid)), greatest(reltuples, 0) FROM pg_class"
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} WHERE oid = %s::regclass", [model._meta.db_table])
        row: Any = cursor.fetchone()
    return f"{row[0]}, about {int(row[1]):,} rows"
