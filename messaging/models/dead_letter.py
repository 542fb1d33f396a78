"""The one list of messages that died, each with its cause and its owner. A person decides what becomes of them.

Invariant: at most one unsettled row per consumer and message (``dead_letter_unsettled_once``).
"""

from django.db import models
from django.db.models.functions import Now


class Reason(models.TextChoices):
    """Every way a message can die."""

    RETRIES_SPENT = "retries_spent", "retries spent"
    PERMANENT_ERROR = "permanent_error", "permanent error"
    TIME_LIMIT = "time_limit", "time limit"
    KILLED_WORKER = "killed_worker", "killed its worker"
    UNKNOWN_TASK = "unknown_task", "unknown task"
    UNKNOWN_EVENT = "unknown_event", "unknown event or version"
    UNDECODABLE = "undecodable", "undecodable"
    BAD_SIGNATURE = "bad_signature", "bad signature"
    EXPIRED = "expired", "expired"
    UNROUTABLE = "unroutable", "unroutable"


class State(models.TextChoices):
    """How far a person has dealt with it."""

    OPEN = "open", "open"
    REQUESTED = "requested", "replay requested"
    RESOLVED = "resolved", "resolved"
    DISCARDED = "discarded", "discarded"


UNSETTLED = (State.OPEN, State.REQUESTED)


class DeadLetter(models.Model):
    """One message that one consumer will not get again unless somebody asks for it."""

    message_id = models.UUIDField(null=True)
    consumer = models.CharField(max_length=200)
    event_name = models.CharField(max_length=200, blank=True)
    key = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=200)
    reason = models.CharField(max_length=20, choices=Reason.choices)
    error_class = models.CharField(max_length=200, blank=True)
    error_message = models.TextField(blank=True)
    traceback = models.TextField(blank=True)
    attempt_count = models.PositiveSmallIntegerField(default=0)
    envelope = models.JSONField(null=True)
    raw = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    first_failed_at = models.DateTimeField(db_default=Now())
    died_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "dead letter"
        constraints = [
            models.UniqueConstraint(
                fields=["message_id", "consumer"],
                condition=models.Q(state__in=UNSETTLED),
                name="dead_letter_unsettled_once",
            ),
            models.CheckConstraint(condition=models.Q(reason__in=Reason.values), name="dead_letter_reason_known"),
            models.CheckConstraint(condition=models.Q(state__in=State.values), name="dead_letter_state_known"),
        ]
        indexes = [
            models.Index("state", "fingerprint", name="dead_letter_groups"),
            models.Index("key", name="dead_letter_by_key"),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id} ({self.reason})"
