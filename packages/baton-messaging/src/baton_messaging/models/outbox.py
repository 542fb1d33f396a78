"""The outbox holds what was published, and whether the broker has it.

Invariant: ``published_at`` is set only after the broker confirmed the message for every consumer. A relay owns a row
until ``available_at``; a relay that dies or hangs loses it then to another one (F45), and what it writes of the row
afterwards changes nothing.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton
from baton_messaging.database.json_field import JSONField, UndecodableJSON
from baton_messaging.database.outbox_notify import notify_relay_on_commit
from baton_messaging.errors import EventTooLarge, Undecodable
from baton_messaging.messages.envelope import Envelope, checked_payload

# One JSON parameter: an insert of the ORM spends 590 µs on one row and 340 on each of many, this 190 and 20.
_ADD = """
    INSERT INTO baton_outbox (
        message_id, name, version, key, payload, occurred_at, correlation_id, causation_id, traceparent,
        sent_to, send_failure_count, last_error
    )
    SELECT message.*, '{}', 0, '' FROM json_to_recordset(%s) AS message (
        message_id uuid, name text, version smallint, key text, payload jsonb, occurred_at timestamptz,
        correlation_id uuid, causation_id uuid, traceparent text
    )
"""

_CLAIM = """
    WITH due AS (
        SELECT id FROM baton_outbox
        WHERE published_at IS NULL AND available_at <= clock_timestamp()
        ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
    )
    UPDATE baton_outbox AS message
    SET available_at = statement_timestamp() + %s
    FROM due WHERE message.id = due.id
    RETURNING message.id, message_id, name, version, key, payload, occurred_at, correlation_id, causation_id,
        traceparent, available_at, sent_to, send_failure_count,
        EXISTS (SELECT 1 FROM baton_pause WHERE resumed_at IS NULL)
        OR EXISTS (SELECT 1 FROM baton_circuit WHERE opened_at IS NOT NULL) AS is_anything_held
"""

_MARK_PUBLISHED = """
    UPDATE baton_outbox SET published_at = clock_timestamp(), sent_to = %s
    WHERE id = ANY(%s) AND available_at = ANY(%s) AND published_at IS NULL
"""


def _mark_published(cursor: Any, rows: list["OutboxMessage"], consumers: tuple[str, ...]) -> int:
    cursor.execute(_MARK_PUBLISHED, [list(consumers), [row.pk for row in rows], _moments(rows)])
    return int(cursor.rowcount)


def _moments(claimed: Iterable["OutboxMessage"]) -> list[datetime]:
    """Return until when a relay has these rows: one moment, when all were claimed together."""
    return list({row.available_at for row in claimed})


def as_json(envelopes: Iterable[Envelope]) -> str:
    """Return rows for json_to_recordset(). Raises EventTooLarge for what no worker would take."""
    rows = [envelope.as_dict() for envelope in envelopes]
    text = json.dumps(rows)
    if len(text) > baton().max_message_bytes // 2:
        _refuse_too_large(rows)
    return text


def _refuse_too_large(rows: list[dict[str, Any]]) -> None:
    max_size = baton().max_message_bytes // 2  # in the body of a Celery message each quote takes two characters
    for row in rows:
        if (size := len(json.dumps(row))) > max_size:
            raise EventTooLarge(row["name"], size, max_size)


class OutboxQuerySet(models.QuerySet["OutboxMessage"]):
    """Verbs of the producer and of the relay."""

    def add(self, envelopes: Iterable[Envelope]) -> None:
        """Insert one row per envelope, in their order and in one statement; the commit wakes the relay.

        Raises EventTooLarge, Undecodable: what no worker would take.
        """
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [as_json(envelopes)])
        notify_relay_on_commit()

    def claim(self, *, limit: int, lease: timedelta) -> list["OutboxMessage"]:
        """Take the oldest due rows for ``lease``; two relays never take the same one (F19)."""
        return sorted(self.raw(_CLAIM, [limit, lease]), key=lambda message: message.pk)

    def mark_published(self, sent_to: Mapping["OutboxMessage", Iterable[str]]) -> int:
        """Note that the broker confirmed these rows, each for the consumers that it was for.

        Returns how many were still the caller's. One statement for all rows of the same consumers; a join with a list
        of both costs twice the time.
        """
        groups: dict[tuple[str, ...], list[OutboxMessage]] = defaultdict(list)
        for row, consumers in sent_to.items():
            groups[tuple(sorted(consumers))].append(row)
        with connection.cursor() as cursor:
            return sum(_mark_published(cursor, rows, consumers) for consumers, rows in groups.items())

    def release(self, claimed: Collection["OutboxMessage"]) -> int:
        """Give back rows that were claimed and not sent: the broker is away, the rows are not at fault (F36)."""
        return self.of_claim(claimed).update(available_at=Now())

    def of_claim(self, claimed: Collection["OutboxMessage"]) -> Self:
        """Return those that the relay which claimed them still has."""
        return self.waiting().filter(pk__in=[row.pk for row in claimed], available_at__in=_moments(claimed))

    def waiting(self) -> Self:
        """Return the rows that the broker has not confirmed yet."""
        return self.filter(published_at=None)


class OutboxMessage(models.Model):
    """A published event on its way to the broker."""

    message_id = models.UUIDField(_("message"), unique=True)
    name = models.CharField(_("event"), max_length=200)
    version = models.PositiveSmallIntegerField(_("version"))
    key = models.CharField(_("key"), max_length=200)
    payload = JSONField(_("payload"))
    occurred_at = models.DateTimeField(_("occurred at"))
    correlation_id = models.UUIDField(_("correlation"))
    causation_id = models.UUIDField(_("caused by"), null=True)
    traceparent = models.CharField(_("trace"), max_length=55, blank=True, default="")
    available_at = models.DateTimeField(_("to be sent at"), db_default=Now())
    published_at = models.DateTimeField(_("published at"), null=True)
    # Everyone that it was for has processed it or has its dead letter: the reconciler need not look at it any more.
    settled_at = models.DateTimeField(_("settled at"), null=True)
    # Who has been sent a copy; of a published message, all that it was for.
    sent_to = ArrayField(models.CharField(max_length=200), default=list, verbose_name=_("sent to"))
    send_failure_count = models.PositiveSmallIntegerField(_("failed sendings"), default=0)
    last_error = models.TextField(_("last error"), blank=True, default="")

    # Not a column: whether anything of whatever consumer was held when the relay claimed the row.
    is_anything_held = False

    objects = OutboxQuerySet.as_manager()

    class Meta:
        db_table = "baton_outbox"
        verbose_name = _("outbox message")
        verbose_name_plural = _("outbox messages")
        indexes = [
            models.Index("id", name="baton_outbox_waiting", condition=models.Q(published_at=None)),
            models.Index("key", "id", name="baton_outbox_by_key"),
            models.Index(
                "published_at",
                name="baton_outbox_unsettled",
                condition=models.Q(published_at__isnull=False, settled_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.message_id}"

    @classmethod
    def of(cls, envelope: Envelope) -> "OutboxMessage":
        """Return a new row, not saved, for a message that has been here before."""
        return cls(
            message_id=envelope.message_id,
            name=envelope.name,
            version=envelope.version,
            key=envelope.key,
            payload=envelope.payload,
            occurred_at=envelope.occurred_at,
            correlation_id=envelope.correlation_id,
            causation_id=envelope.causation_id,
            traceparent=envelope.traceparent,
        )

    def is_for(self, consumer: str) -> bool:
        """Tell whether a consumer of its event is sent it: not one that a deploy has added since it was published."""
        return self.published_at is None or consumer in self.sent_to

    def is_sent_to(self, consumer: str) -> bool:
        """Tell whether the broker has confirmed it for this consumer."""
        return self.published_at is not None or consumer in self.sent_to

    def envelope(self) -> Envelope:
        """Return what travels. Raises Undecodable: the row was written past ``publish()``."""
        if isinstance(self.payload, UndecodableJSON):
            raise Undecodable("its payload is JSON that cannot be decoded")
        return Envelope(
            message_id=self.message_id,
            name=self.name,
            version=self.version,
            key=self.key,
            occurred_at=self.occurred_at,
            correlation_id=self.correlation_id,
            causation_id=self.causation_id,
            traceparent=self.traceparent,
            payload=checked_payload(self.payload),
        )

    def postpone(self, *, sent_to: list[str], delay: timedelta, error: str, at_fault: bool) -> None:
        """Note that some consumer's queue did not take the message; the others have it and get no second copy.

        Only what is the message's own fault counts towards its being dead-lettered.
        """
        type(self).objects.of_claim([self]).update(
            sent_to=sent_to,
            available_at=Now() + delay,
            send_failure_count=models.F("send_failure_count") + int(at_fault),
            last_error=error,
        )
