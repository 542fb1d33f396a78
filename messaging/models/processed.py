"""The inbox: which consumer has processed which message.

Invariant: ``inbox_once_per_consumer``. The row is written by the transaction that writes the effects, so both are
there or neither (F09). A second delivery finds the row, or waits for the transaction that is about to commit it (F15).
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.contrib.postgres.indexes import BrinIndex
from django.db import connection, models
from django.db.models.functions import Now

_CLAIM = """
    INSERT INTO messaging_processedmessage (message_id, consumer, processed_at, duration_ms, worker)
    SELECT message_id, %s, clock_timestamp(), 0, %s FROM unnest(%s::uuid[]) AS message_id ORDER BY message_id
    ON CONFLICT (message_id, consumer) DO NOTHING
    RETURNING message_id
"""

_FINISH = """
    UPDATE messaging_processedmessage AS row
    SET processed_at = clock_timestamp(), duration_ms = done.duration_ms
    FROM unnest(%s::uuid[], %s::integer[]) AS done (message_id, duration_ms)
    WHERE row.consumer = %s AND row.message_id = done.message_id
"""


class ProcessedQuerySet(models.QuerySet["ProcessedMessage"]):
    """Verbs of a consumer."""

    def claim(self, *, consumer: str, message_ids: Sequence[UUID], worker: str) -> set[UUID]:
        """Insert the rows in message_id order (so that two bundles cannot deadlock); return those that were new."""
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, [consumer, worker, list(message_ids)])
            return {message_id for (message_id,) in cursor.fetchall()}

    def finish(self, *, consumer: str, durations_ms: Mapping[UUID, int]) -> None:
        """Note when and how long, in milliseconds, each message took."""
        with connection.cursor() as cursor:
            cursor.execute(_FINISH, [list(durations_ms), list(durations_ms.values()), consumer])

    def release(self, *, consumer: str, message_ids: Sequence[UUID]) -> None:
        """Take back the claim of messages that failed, so that a later attempt is not mistaken for a repeat."""
        self.filter(consumer=consumer, message_id__in=message_ids).delete()


class ProcessedMessage(models.Model):
    """One message, processed by one consumer."""

    message_id = models.UUIDField()
    consumer = models.CharField(max_length=200)
    processed_at = models.DateTimeField(db_default=Now())
    duration_ms = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True, default="")

    objects = ProcessedQuerySet.as_manager()

    class Meta:
        verbose_name = "processed message"
        constraints = [models.UniqueConstraint(fields=["message_id", "consumer"], name="inbox_once_per_consumer")]
        indexes = [BrinIndex("processed_at", name="inbox_by_age")]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id}"
