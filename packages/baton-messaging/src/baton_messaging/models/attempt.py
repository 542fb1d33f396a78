"""Attempts that failed wait here for the next one, not in a worker's memory.

Invariant: one row per attempt (``baton_attempt_once``); a row whose ``sent_at`` is empty is what the relay still has to
send. Survives a broker that comes back empty. A relay owns a row while ``claimed_until`` is what its claim has set, and
notes nothing about another one: a worker may have failed and parked the message before the relay notes that it is sent.

Each replay of a dead letter begins a round: its attempts count anew, and the earlier rounds stay as history. The round
opens with attempt 0, which holds what the message had died of, and is what the relay sends. Attempt 0 of round 0 is a
message that was held back before it was ever tried (flow_control/parking.py).

What is held (a pause, an open circuit) is due and not claimed: no row of it changes while it waits.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.database.json_field import JSONField
from baton_messaging.messages.envelope import Envelope

_CLAIM = """
    WITH due AS (
        SELECT id FROM baton_attempt AS waiting
        WHERE sent_at IS NULL AND due_at <= clock_timestamp()
          AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
          AND NOT EXISTS (
            SELECT 1 FROM baton_circuit AS circuit
            WHERE circuit.opened_at IS NOT NULL AND circuit.consumer = waiting.consumer
              AND circuit.probe_message_id IS DISTINCT FROM waiting.message_id)
          AND NOT EXISTS (
            SELECT 1 FROM baton_pause AS pause
            WHERE pause.resumed_at IS NULL AND pause.consumer = waiting.consumer)
          AND NOT EXISTS (
            SELECT 1 FROM baton_pause AS pause
            WHERE pause.resumed_at IS NULL AND pause.key = waiting.key
              AND pause.event_name = waiting.envelope ->> 'name')
        ORDER BY due_at LIMIT %s FOR UPDATE OF waiting SKIP LOCKED
    ), claimed AS (
        UPDATE baton_attempt AS attempt
        SET claimed_until = statement_timestamp() + %s
        FROM due WHERE attempt.id = due.id
        RETURNING attempt.*
    )
    SELECT claimed.*, any_open AS is_circuit_open
    FROM (SELECT EXISTS (SELECT 1 FROM baton_circuit WHERE opened_at IS NOT NULL)) AS circuits (any_open)
    LEFT JOIN claimed ON true
"""


class Claim(NamedTuple):
    """Retries that are ours for the length of a lease; and whether some circuit is open, which the same look told."""

    attempts: list["Attempt"]
    is_circuit_open: bool


class AttemptQuerySet(models.QuerySet["Attempt"]):
    """Verbs of the relay."""

    def claim_due(self, *, limit: int, lease: timedelta) -> Claim:
        """Take due retries that nothing holds, for ``lease``."""
        rows: list[Any] = list(self.raw(_CLAIM, [limit, lease]))
        attempts = sorted((row for row in rows if row.pk), key=lambda attempt: attempt.due_at)
        return Claim(attempts, is_circuit_open=any(row.is_circuit_open for row in rows))

    def unclaimed(self) -> Self:
        """Return what no relay has sent or has claimed."""
        return self.filter(Q(claimed_until=None) | Q(claimed_until__lte=Now()), sent_at=None)

    def waiting_by_consumer(self) -> dict[str, int]:
        """Return how many retries are not sent yet, those held back included."""
        counted = self.filter(sent_at=None).order_by("consumer").values_list("consumer")
        return dict(counted.annotate(models.Count("id")))

    def mark_sent(self, claimed: Collection["Attempt"]) -> int:
        """Note that the broker confirmed these retries; return how many were still the caller's."""
        return self._of_claim(claimed).update(sent_at=Now())

    def release(self, claimed: Collection["Attempt"]) -> int:
        """Give back retries that were claimed and not sent."""
        return self._of_claim(claimed).update(claimed_until=None)

    def _of_claim(self, claimed: Collection["Attempt"]) -> Self:
        moments = {attempt.claimed_until for attempt in claimed}  # one, when all were claimed together
        return self.filter(pk__in=[attempt.pk for attempt in claimed], claimed_until__in=moments, sent_at=None)


class Attempt(models.Model):
    """One failed attempt of one consumer at one message."""

    message_id = models.UUIDField(_("message"))
    consumer = models.CharField(_("consumer"), max_length=200)
    round = models.PositiveSmallIntegerField(_("round"), default=0)
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    key = models.CharField(_("key"), max_length=200)
    envelope = JSONField(_("envelope"))
    error_class = models.CharField(_("error"), max_length=200)
    error_message = models.TextField(_("error message"), blank=True)
    traceback = models.TextField(_("traceback"), blank=True)
    worker = models.CharField(_("worker"), max_length=200, blank=True, default="")
    failed_at = models.DateTimeField(_("failed at"), db_default=Now())
    due_at = models.DateTimeField(_("due at"))
    claimed_until = models.DateTimeField(_("claimed until"), null=True)
    sent_at = models.DateTimeField(_("sent at"), null=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        db_table = "baton_attempt"
        verbose_name = _("failed attempt")
        verbose_name_plural = _("failed attempts")
        constraints = [
            models.UniqueConstraint(fields=["message_id", "consumer", "round", "attempt"], name="baton_attempt_once"),
        ]
        indexes = [
            models.Index("due_at", name="baton_attempt_due", condition=Q(sent_at=None)),
            models.Index("consumer", models.F("failed_at").desc(), name="baton_attempt_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id} attempt {self.attempt}"

    def open_envelope(self) -> Envelope:
        """Return what the relay sends again. Raises Undecodable."""
        return Envelope.from_dict(self.envelope)
