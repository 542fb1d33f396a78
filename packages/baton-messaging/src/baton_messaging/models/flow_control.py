"""A pause by a person, or a circuit that failures opened, holds messages back.

Invariant: a pause is never changed but to end it (``baton_pause_ends_once``), so the rows are their own history; at
most one is in force per target (``baton_pause_once_per_target``). A circuit is open while ``opened_at`` is set, one row
per consumer.
"""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class PauseQuerySet(models.QuerySet["Pause"]):
    """Adjectives, and the one change of state."""

    def in_force(self) -> Self:
        """Return those that hold something back."""
        return self.filter(resumed_at=None)

    def resume(self, *, by: str, why: str) -> int:
        """End those in force; return how many this call ended."""
        return self.in_force().update(resumed_at=Now(), resumed_by=by, resumed_because=why)


class Pause(models.Model):
    """One consumer, or the messages of one event about one key, held back by a person until resumed."""

    consumer = models.CharField(_("consumer"), max_length=200, blank=True, default="")
    event_name = models.CharField(_("event"), max_length=200, blank=True, default="")
    key = models.CharField(_("key"), max_length=200, blank=True, default="")
    paused_at = models.DateTimeField(_("paused at"), db_default=Now())
    paused_by = models.CharField(_("paused by"), max_length=200)
    via = models.CharField(_("via"), max_length=20)
    why = models.TextField(_("why"))
    resumed_at = models.DateTimeField(_("resumed at"), null=True)
    resumed_by = models.CharField(_("resumed by"), max_length=200, blank=True, default="")
    resumed_because = models.TextField(_("resumed because"), blank=True, default="")

    objects = PauseQuerySet.as_manager()

    class Meta:
        db_table = "baton_pause"
        verbose_name = _("pause")
        verbose_name_plural = _("pauses")
        default_permissions = ("view",)
        permissions = [("pause_consumer", "Can pause and resume consumers")]
        constraints = [
            models.UniqueConstraint(
                fields=["consumer", "event_name", "key"],
                condition=Q(resumed_at=None),
                name="baton_pause_once_per_target",
            ),
            models.CheckConstraint(
                condition=(~Q(consumer="") & Q(event_name="", key=""))
                | (Q(consumer="") & ~Q(event_name="") & ~Q(key="")),
                name="baton_pause_has_one_target",
            ),
            models.CheckConstraint(
                condition=Q(resumed_at=None, resumed_by="") | (Q(resumed_at__isnull=False) & ~Q(resumed_by="")),
                name="baton_pause_ends_once",
            ),
        ]

    def __str__(self) -> str:
        return self.target

    @property
    def target(self) -> str:
        """Return what is held back, in one word or two."""
        return self.consumer or f"{self.event_name} {self.key}"


class CircuitQuerySet(models.QuerySet["Circuit"]):
    """Verbs of the breaker. Each is one conditional UPDATE."""

    def open(self) -> Self:
        """Return those that let one message through at a time."""
        return self.filter(opened_at__isnull=False)

    def close(self, consumer: str) -> bool:
        """Let everything through again; tell whether this call did it."""
        closing = self.open().filter(consumer=consumer)
        return closing.update(opened_at=None, closed_at=Now(), probe_message_id=None, probe_sent_at=None) == 1


class Circuit(models.Model):
    """The breaker of one consumer. Closed, the row only tells of the last time it was open."""

    consumer = models.CharField(_("consumer"), max_length=200, unique=True)
    opened_at = models.DateTimeField(_("open since"), null=True)
    closed_at = models.DateTimeField(_("closed at"), null=True)
    error_class = models.CharField(_("error"), max_length=200, blank=True, default="")
    probe_message_id = models.UUIDField(_("probe message"), null=True)
    probe_sent_at = models.DateTimeField(_("probed since"), null=True)
    probe_count = models.PositiveIntegerField(_("failed probes"), default=0)
    next_probe_at = models.DateTimeField(_("next probe at"), db_default=Now())

    objects = CircuitQuerySet.as_manager()

    class Meta:
        db_table = "baton_circuit"
        verbose_name = _("circuit breaker")
        verbose_name_plural = _("circuit breakers")
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.consumer

    def has_been_open_for(self, now: datetime) -> float:
        """Return for how many seconds it has been open, 0 when it is closed."""
        return (now - self.opened_at).total_seconds() if self.opened_at else 0.0
