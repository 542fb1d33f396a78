"""Statistics count what happened, per minute and consumer, for Prometheus and the board's charts.

Invariant: one row per minute and consumer (``baton_minute_once_per_consumer``). A minute that nothing can be added to
any more is folded into its consumer's total once: by the transaction that marks it. So total plus open minutes never
goes down, whatever is pruned.
"""

from datetime import datetime, timedelta
from typing import Final, Self

import structlog
from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, connection, models
from django.db.models import ExpressionWrapper, F, Q
from django.db.models.functions import Now

log = structlog.get_logger(__name__)

COUNTS = ("processed_count", "failed_count", "retried_count", "redelivered_count")
HISTOGRAMS = ("duration_counts", "lag_counts")
SUMS = ("duration_seconds", "lag_seconds")
COUNTED = (*COUNTS, "dead_counts", *HISTOGRAMS, *SUMS)

_COUNT_REDELIVERY: Final = """
    INSERT INTO baton_minute AS known (minute, consumer, is_folded, processed_count, failed_count, retried_count,
        redelivered_count, dead_counts, duration_counts, duration_seconds, lag_counts, lag_seconds)
    VALUES (date_trunc('minute', clock_timestamp()), %s, false, 0, 0, 0, 1, '{}', '{}', 0, '{}', 0)
    ON CONFLICT (minute, consumer) DO UPDATE SET redelivered_count = known.redelivered_count + 1
"""


class Counts(models.Model):
    """Counts of one consumer. Histograms count by the buckets of observability/statistics/histogram.py."""

    consumer = models.CharField(max_length=200)
    processed_count = models.BigIntegerField(default=0)
    failed_count = models.BigIntegerField(default=0)
    retried_count = models.BigIntegerField(default=0)
    redelivered_count = models.BigIntegerField(default=0)
    dead_counts = models.JSONField(default=dict)  # {reason: count}
    duration_counts = ArrayField(models.BigIntegerField(), default=list)
    duration_seconds = models.FloatField(default=0)
    lag_counts = ArrayField(models.BigIntegerField(), default=list)
    lag_seconds = models.FloatField(default=0)

    class Meta:
        abstract = True


class MinuteQuerySet(models.QuerySet["Minute"]):
    """Adjectives, and the one count that is written as it happens."""

    def open(self) -> Self:
        """Return those that something may still be added to."""
        return self.filter(is_folded=False)

    def since(self, moment: datetime) -> Self:
        """Return those that began at ``moment`` or later."""
        return self.filter(minute__gte=moment)

    def count_redelivery(self, consumer: str) -> None:
        """Count a delivery that is not the first in this minute: the one figure that no other row tells.

        It costs such a delivery one statement, and all others nothing. Call outside a transaction, so that it stays
        whatever becomes of the message. A count that cannot be written is lost; the message is not.
        """
        try:
            with connection.cursor() as cursor:
                cursor.execute(_COUNT_REDELIVERY, [consumer])
        except DatabaseError as error:
            log.warning("redelivery_not_counted", consumer=consumer, error_class=type(error).__name__)


class Minute(Counts):
    """What one consumer did in one minute."""

    minute = models.DateTimeField()
    is_folded = models.BooleanField(default=False)

    objects = MinuteQuerySet.as_manager()

    class Meta:
        db_table = "baton_minute"
        verbose_name = "minute of a consumer"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["minute", "consumer"], name="baton_minute_once_per_consumer")]
        indexes = [models.Index("minute", name="baton_minute_open", condition=Q(is_folded=False))]

    def __str__(self) -> str:
        return f"{self.consumer} {self.minute:%Y-%m-%d %H:%M}"


class Total(Counts):
    """What one consumer did in all the minutes that were folded."""

    class Meta:
        db_table = "baton_total"
        verbose_name = "total of a consumer"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["consumer"], name="baton_total_once_per_consumer")]

    def __str__(self) -> str:
        return self.consumer


class RollupQuerySet(models.QuerySet["Rollup"]):
    """The one question."""

    def age_seconds(self) -> float | None:
        """Return how long ago the minutes were rolled up, by the database's clock; None: never."""
        since = ExpressionWrapper(Now() - F("rolled_up_at"), output_field=models.DurationField())
        age: timedelta | None = self.values_list(since, flat=True).first()
        return age.total_seconds() if age is not None else None


class Rollup(models.Model):
    """How far the rollup is: the one row of its table, locked by the task that rolls up.

    Minutes before ``folded_until`` are final. No inbox row up to ``inbox_id`` belongs to a later one.
    """

    folded_until = models.DateTimeField()
    inbox_id = models.BigIntegerField(default=0)
    rolled_up_at = models.DateTimeField(db_default=Now())

    objects = RollupQuerySet.as_manager()

    class Meta:
        db_table = "baton_rollup"
        verbose_name = "rollup"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="baton_rollup_is_one_row")]

    def __str__(self) -> str:
        return f"until {self.folded_until:%Y-%m-%d %H:%M}"
