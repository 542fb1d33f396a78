"""A future message is published for a time to come: a row until it is due, and then one of the outbox.

It is a table of its own, so that a million that wait cost the relay's claim nothing; what is due is moved by one
statement, which is where a cancellation and the relay meet. Invariant: of release and cancellation exactly one happens
to a row (``baton_future_one_end``): both are an UPDATE whose WHERE names the state that they leave.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Self

from django.db import connection, models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.database.json_field import JSONField
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models.outbox import as_json

_ADD = """
    INSERT INTO baton_future_message (
        message_id, name, version, key, payload, due_at, correlation_id, causation_id, traceparent, cancelled_by, why
    )
    SELECT message.*, '', '' FROM json_to_recordset(%s) AS message (
        message_id uuid, name text, version smallint, key text, payload jsonb, occurred_at timestamptz,
        correlation_id uuid, causation_id uuid, traceparent text
    )
"""

# What is due is locked in one order. A row that is being cancelled or moved is skipped, and looked at again next time.
_RELEASE = """
    WITH due AS (
        SELECT id FROM baton_future_message
        WHERE released_at IS NULL AND cancelled_at IS NULL AND due_at <= clock_timestamp()
        ORDER BY due_at, id LIMIT %s FOR UPDATE SKIP LOCKED
    ), released AS (
        UPDATE baton_future_message AS message SET released_at = clock_timestamp()
        FROM due WHERE message.id = due.id
        RETURNING message.*
    )
    INSERT INTO baton_outbox (
        message_id, name, version, key, payload, occurred_at, correlation_id, causation_id, traceparent,
        sent_to, send_failure_count, last_error
    )
    SELECT message_id, name, version, key, payload, due_at, correlation_id, causation_id, traceparent, '{}', 0, ''
    FROM released ORDER BY due_at, id
"""


class FutureMessageQuerySet(models.QuerySet["FutureMessage"]):
    """Verbs of the producer, of the relay and of who changes their mind."""

    def add(self, envelopes: Iterable[Envelope]) -> None:
        """Insert one row per envelope in one statement; each is due when it occurs. Raises EventTooLarge."""
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [as_json(envelopes)])

    def release_due(self, *, limit: int) -> int:
        """Move what is due into the outbox, the earliest first; return how many. Two relays never move the same one."""
        with connection.cursor() as cursor:
            cursor.execute(_RELEASE, [limit])
            return int(cursor.rowcount)

    def waiting(self) -> Self:
        """Return those that are neither in the outbox nor cancelled."""
        return self.filter(released_at=None, cancelled_at=None)

    def cancel(self, *, by: str, why: str = "") -> int:
        """Cancel those of them that still wait; return how many did."""
        return self.waiting().update(cancelled_at=Now(), cancelled_by=by[:200], why=why)

    def move(self, due_at: datetime) -> int:
        """Let those of them that still wait be due at another time; return how many did."""
        return self.waiting().update(due_at=due_at)


class FutureMessage(models.Model):
    """An event that was published for a time to come. The columns of an envelope are those of the outbox."""

    message_id = models.UUIDField(_("message"), unique=True)
    name = models.CharField(_("event"), max_length=200)
    version = models.PositiveSmallIntegerField(_("version"))
    key = models.CharField(_("key"), max_length=200)
    payload = JSONField(_("payload"))
    correlation_id = models.UUIDField(_("correlation"))
    causation_id = models.UUIDField(_("caused by"), null=True)
    traceparent = models.CharField(_("trace"), max_length=55, blank=True, default="")
    published_at = models.DateTimeField(_("published at"), db_default=Now())
    due_at = models.DateTimeField(_("due at"))
    released_at = models.DateTimeField(_("moved to the outbox at"), null=True)
    cancelled_at = models.DateTimeField(_("cancelled at"), null=True)
    cancelled_by = models.CharField(_("cancelled by"), max_length=200, blank=True, default="")
    why = models.TextField(_("why"), blank=True, default="")

    objects = FutureMessageQuerySet.as_manager()

    class Meta:
        db_table = "baton_future_message"
        verbose_name = _("future message")
        verbose_name_plural = _("future messages")
        default_permissions = ("view", "change")
        indexes = [
            models.Index(
                "due_at",
                "id",
                name="baton_future_waiting",
                condition=models.Q(released_at=None, cancelled_at=None),
            ),
            models.Index("key", "id", name="baton_future_by_key"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(released_at=None) | models.Q(cancelled_at=None), name="baton_future_one_end"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.message_id}"

    @property
    def is_waiting(self) -> bool:
        """Tell whether it is neither in the outbox nor cancelled."""
        return self.released_at is None and self.cancelled_at is None
