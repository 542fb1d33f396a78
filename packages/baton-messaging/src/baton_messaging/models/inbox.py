"""The inbox tells which consumer has processed which message.

Invariant: ``baton_inbox_once_per_consumer``. The row is written by the transaction that writes the effects, so both are
there or neither (F09). A second delivery finds the row, or waits for the transaction that is about to commit it (F15).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast
from uuid import UUID

from django.contrib.postgres.indexes import BrinIndex
from django.db import connection, models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.messages.position import MAYBE_HELD, PROCESSED

Standing = Literal["processed", "maybe held", "new"]

_CLAIM = """
    INSERT INTO baton_inbox (message_id, consumer, processed_at, duration_ms, worker)
    SELECT message_id, %(consumer)s, clock_timestamp(), 0, %(worker)s FROM unnest(%(ids)s::uuid[]) AS message_id
    ORDER BY message_id
    ON CONFLICT (message_id, consumer) DO NOTHING
    RETURNING message_id
"""

# All or none, by one snapshot. Short, because PostgreSQL plans it for each message: telling "held" from "processed
# before" in the same statement took half as long again.
_CLAIM_UNLESS_HELD = _CLAIM.replace("ORDER BY", f"WHERE NOT ({MAYBE_HELD}) ORDER BY")

_STANDING = f"""
    SELECT CASE
        WHEN {PROCESSED.format(message="asked")} THEN 'processed'
        WHEN {MAYBE_HELD} THEN 'maybe held'
        ELSE 'new' END
    FROM (SELECT %(message_id)s::uuid AS message_id) AS asked
"""  # noqa: S608 - put together of constants

_FINISH = """
    UPDATE baton_inbox AS row
    SET processed_at = clock_timestamp(), duration_ms = done.duration_ms
    FROM unnest(%s::uuid[], %s::integer[]) AS done (message_id, duration_ms)
    WHERE row.consumer = %s AND row.message_id = done.message_id
"""


class ProcessedQuerySet(models.QuerySet["ProcessedMessage"]):
    """Verbs of a consumer."""

    def claim(self, *, consumer: str, message_ids: Sequence[UUID], worker: str) -> set[UUID]:
        """Insert the rows in message_id order (so that two bundles cannot deadlock); return those that were new."""
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, {"consumer": consumer, "worker": worker, "ids": _array(message_ids)})
            return {message_id for (message_id,) in cursor.fetchall()}

    def claim_unless_held(self, *, consumer: str, event: str, message_ids: Sequence[UUID], worker: str) -> set[UUID]:
        """Claim, in the same single statement, unless something of this consumer may be held: then nothing.

        Of those that are not returned ``flow_control`` knows which must wait, and ``claim`` takes what is new.
        """
        arguments = {"consumer": consumer, "event": event, "worker": worker, "ids": _array(message_ids)}
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM_UNLESS_HELD, arguments)
            return {message_id for (message_id,) in cursor.fetchall()}

    def standing(self, *, consumer: str, event: str, message_id: UUID) -> Standing:
        """Return where a message stands before a long handler runs."""
        with connection.cursor() as cursor:
            cursor.execute(_STANDING, {"consumer": consumer, "event": event, "message_id": message_id})
            (found,) = cursor.fetchone()
        return cast("Standing", found)

    def finish(self, *, consumer: str, durations_ms: Mapping[UUID, int]) -> None:
        """Note when and how long, in milliseconds, each message took."""
        with connection.cursor() as cursor:
            cursor.execute(_FINISH, [_array(durations_ms), _array(durations_ms.values()), consumer])

    def release(self, *, consumer: str, message_ids: Sequence[UUID]) -> None:
        """Take back the claim of messages that failed, so that a later attempt is not mistaken for a repeat."""
        self.filter(consumer=consumer, message_id__in=message_ids).delete()


class ProcessedMessage(models.Model):
    """One message, processed by one consumer."""

    message_id = models.UUIDField(_("message"))
    consumer = models.CharField(_("consumer"), max_length=200)
    processed_at = models.DateTimeField(_("processed at"), db_default=Now())
    duration_ms = models.PositiveIntegerField(_("duration in ms"), default=0)
    worker = models.CharField(_("worker"), max_length=200, blank=True, default="")

    objects = ProcessedQuerySet.as_manager()

    class Meta:
        db_table = "baton_inbox"
        verbose_name = _("processed message")
        verbose_name_plural = _("processed messages")
        constraints = [models.UniqueConstraint(fields=["message_id", "consumer"], name="baton_inbox_once_per_consumer")]
        indexes = [BrinIndex("processed_at", name="baton_inbox_by_age")]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id}"


def _array(values: Iterable[UUID | int]) -> str:
    """Write an array as PostgreSQL reads it. Of lists psycopg looks at each element first, which costs 0.1 ms."""
    return f"{{{','.join(map(str, values))}}}"
