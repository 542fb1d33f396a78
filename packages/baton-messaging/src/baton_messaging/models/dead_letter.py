"""Dead letters list all messages that died, each with its cause and owner. A person decides what becomes of them.

    open ──replay──▶ requested ──inbox row appears──▶ resolved
     ▲ │                 │ died again, or withdrawn
     │ └──discard──▶ discarded ◀┘ (only from open)      every arrow is one UPDATE whose WHERE names the state it leaves
     └────restore───────┘

Invariant: at most one unsettled row per consumer and message (``baton_dead_letter_unsettled_once``), and per thing that
is no message (``baton_dead_letter_unreadable_once``): what comes again is counted. ``settled_at`` says what ``state``
says (``baton_dead_letter_settled_at_says_what_state_says``).
"""

from datetime import datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton
from baton_messaging.database.json_field import JSONField
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models.inbox import ProcessedMessage

#: Stand-ins for a consumer: in the list the relay, for an event that it does not know; in the inbox the collector, for
#: what has no message id of its own.
RELAY: Final = "baton.relay"
COLLECTOR: Final = "baton.collector"


#: The class of the error of what RabbitMQ let expire, though whoever sent it had not asked for that.
EXPIRED_BY_POLICY: Final = "ExpiredByPolicy"


class Reason(models.TextChoices):
    """Every way a message can die."""

    RETRIES_SPENT = "retries_spent", _("retries spent")
    PERMANENT_ERROR = "permanent_error", _("permanent error")
    TIME_LIMIT = "time_limit", _("time limit")
    KILLED_WORKER = "killed_worker", _("killed its worker")
    UNKNOWN_TASK = "unknown_task", _("unknown task")
    UNKNOWN_EVENT = "unknown_event", _("unknown event or version")
    UNDECODABLE = "undecodable", _("undecodable")
    BAD_SIGNATURE = "bad_signature", _("bad signature")
    MISDIRECTED = "misdirected", _("for another consumer or event")
    TOO_OLD = "too_old", _("too old")
    EXPIRED = "expired", _("expired")
    REVOKED = "revoked", _("revoked")
    UNROUTABLE = "unroutable", _("unroutable")


class State(models.TextChoices):
    """How far a person has dealt with it."""

    OPEN = "open", _("open")
    REQUESTED = "requested", _("replay requested")
    RESOLVED = "resolved", _("resolved")
    DISCARDED = "discarded", _("discarded")


UNSETTLED = (State.OPEN, State.REQUESTED)
SETTLED = (State.RESOLVED, State.DISCARDED)


class DeadLetterQuerySet(models.QuerySet["DeadLetter"]):
    """Adjectives, and the changes of state. Each change returns how many rows it changed."""

    def open(self) -> Self:
        """Return what waits for a person."""
        return self.filter(state=State.OPEN)

    def unsettled(self) -> Self:
        """Return what is not done with yet."""
        return self.filter(state__in=UNSETTLED)

    def replayable(self) -> Self:
        """Return the open ones that can be sent again: what is no envelope of ours cannot."""
        return self.open().filter(envelope__isnull=False)

    def applied(self) -> Self:
        """Return those whose effect is in the database: the inbox has their row."""
        return self.filter(inbox_row())

    def unapplied(self) -> Self:
        """Return those that the inbox has no row of."""
        return self.exclude(inbox_row())

    def lock(self, *, limit: int | None = None) -> list[int]:
        """Lock the rows in id order, so that two bulk operations cannot deadlock; return their ids."""
        rows = self.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True)
        return list(rows[:limit])

    def past_retention(self, now: datetime) -> Self:
        """Return what may go: settled, and longer ago than DEAD_LETTER_RETENTION_DAYS. Never an unsettled one."""
        return self.filter(state__in=SETTLED, settled_at__lt=now - retention())

    def reopen(self, **death: Any) -> int:
        """Take back requested ones that died again, with what is known of the new death."""
        return self.filter(state=State.REQUESTED).update(state=State.OPEN, died_at=Now(), **death)

    def count_again(self, identity: UUID) -> int:
        """Count another arrival of something unreadable that is on the list and not settled."""
        return self.unsettled().filter(identity=identity).update(seen_count=F("seen_count") + 1, last_seen_at=Now())

    def discard(self, *, by: str) -> int:
        """Settle open ones without an effect."""
        return self.open().update(
            state=State.DISCARDED, settled_at=Now(), settled_by=by, replay=None, requested_at=None
        )

    def restore(self) -> int:
        """Open discarded ones again."""
        return self.filter(state=State.DISCARDED).update(state=State.OPEN, settled_at=None, settled_by="")


class DeadLetter(models.Model):
    """One message that one consumer will not get again unless somebody asks for it."""

    message_id = models.UUIDField(_("message id"), null=True)
    consumer = models.CharField(_("consumer"), max_length=200)
    event_name = models.CharField(_("event"), max_length=200, blank=True)
    key = models.CharField(_("key"), max_length=200, blank=True)
    owner = models.CharField(_("owner"), max_length=200)
    reason = models.CharField(_("reason"), max_length=20, choices=Reason.choices)
    error_class = models.CharField(_("error"), max_length=200, blank=True)
    error_message = models.TextField(_("error text"), blank=True)
    traceback = models.TextField(_("traceback"), blank=True)
    attempt_count = models.PositiveSmallIntegerField(_("attempts"), default=0)
    envelope = JSONField(_("envelope"), null=True)
    raw = models.TextField(_("as it came"), blank=True)
    # Of what is no message: the same for the same thing, so that each arrival of it after the first is only counted.
    identity = models.UUIDField(null=True, editable=False)
    seen_count = models.PositiveIntegerField(_("arrivals"), default=1, db_default=1)
    last_seen_at = models.DateTimeField(_("last arrival"), null=True)
    task_id = models.CharField(_("task id"), max_length=200, blank=True, default="")
    fingerprint = models.CharField(_("group"), max_length=64)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.OPEN)
    # When the event happened: an inbox row of the message cannot be older than this.
    occurred_at = models.DateTimeField(_("occurred at"), null=True)
    first_failed_at = models.DateTimeField(_("first failed at"), db_default=Now())
    died_at = models.DateTimeField(_("died at"), db_default=Now())
    # Of the last replay; empty while it is only planned (held back until the canary is through).
    requested_at = models.DateTimeField(_("replay requested at"), null=True)
    # When that replay lets it leave. While the outbox row of what was put back there says the same moment, no relay has
    # taken it up: a claim moves it on.
    due_at = models.DateTimeField(_("to be sent at"), null=True)
    settled_at = models.DateTimeField(_("settled at"), null=True)
    # The person who discarded or edited it, or the worker that has processed the message after all.
    settled_by = models.CharField(_("settled by"), max_length=200, blank=True, default="", db_default="")
    replay_count = models.PositiveSmallIntegerField(_("replays"), default=0)
    replay = models.ForeignKey(
        "baton_messaging.Replay",
        null=True,
        on_delete=models.SET_NULL,
        related_name="dead_letters",
        verbose_name=_("replay"),
    )
    copy_of = models.OneToOneField(
        "self", null=True, on_delete=models.SET_NULL, related_name="edited_copy", verbose_name=_("copy of")
    )

    objects = DeadLetterQuerySet.as_manager()

    class Meta:
        db_table = "baton_dead_letter"
        verbose_name = _("dead letter")
        verbose_name_plural = _("dead letters")
        default_permissions = ("view",)
        permissions = [
            ("replay_deadletter", "Can replay dead letters"),
            ("edit_deadletter", "Can edit or redirect dead letters before replaying them"),
            ("discard_deadletter", "Can discard and restore dead letters"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["message_id", "consumer"],
                condition=models.Q(state__in=UNSETTLED),
                name="baton_dead_letter_unsettled_once",
            ),
            models.UniqueConstraint(
                fields=["identity"],
                condition=models.Q(state__in=UNSETTLED),
                name="baton_dead_letter_unreadable_once",
            ),
            models.CheckConstraint(condition=models.Q(reason__in=Reason.values), name="baton_dead_letter_reason_known"),
            models.CheckConstraint(condition=models.Q(state__in=State.values), name="baton_dead_letter_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=UNSETTLED, settled_at__isnull=True)
                | Q(state__in=SETTLED, settled_at__isnull=False),
                name="baton_dead_letter_settled_at_says_what_state_says",
            ),
        ]
        indexes = [
            models.Index("state", "fingerprint", name="baton_dead_letter_groups"),
            models.Index("key", name="baton_dead_letter_by_key"),
            models.Index("message_id", name="baton_dead_letter_by_message"),
            models.Index("task_id", name="baton_dead_letter_by_task"),
            models.Index("state", F("died_at").desc(), F("id").desc(), name="baton_dead_letter_newest"),
            models.Index("settled_at", name="baton_dead_letter_by_age", condition=Q(settled_at__isnull=False)),
            models.Index(
                "id", name="baton_dead_letter_asked_for", condition=Q(state__in=UNSETTLED, requested_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id} ({self.reason})"

    @property
    def purge_at(self) -> datetime | None:
        """Return when it goes for good; until then what was discarded can be restored. None while unsettled."""
        return self.settled_at + retention() if self.settled_at else None

    def open_envelope(self) -> Envelope:
        """Return the message. Raises Undecodable when what is kept is none."""
        return Envelope.from_dict(self.envelope or {})


def retention() -> timedelta:
    """Return how long a settled dead letter is kept."""
    return timedelta(days=baton().dead_letter_retention_days)


def inbox_row() -> Exists:
    """Return the condition that the inbox has the dead letter's message."""
    return Exists(_processed())


def worker_of_message() -> Subquery:
    """Return the worker that has processed the dead letter's message, for rows whose message has its inbox row."""
    return Subquery(_processed().values("worker")[:1])


def _processed() -> models.QuerySet[ProcessedMessage]:
    return ProcessedMessage.objects.filter(message_id=OuterRef("message_id"), consumer=OuterRef("consumer"))
