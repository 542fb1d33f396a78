"""A replay is one order of a person: how fast, and whether the first few are still being watched.

    watching the canary ──all resolved──▶ released          stopped from either, by a person or by a canary that died

Invariant: a replay that was stopped sends nothing more; what it had not sent is open again.
"""

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class ReplayQuerySet(models.QuerySet["Replay"]):
    """Adjectives and changes of state. Each change returns whether this call made it."""

    def watching(self) -> Self:
        """Return those that hold back the rest until their canary is through."""
        return self.filter(released_at=None, stopped_at=None)

    def release(self, replay_id: int) -> bool:
        """Let the rest go."""
        return self.watching().filter(pk=replay_id).update(released_at=Now()) == 1

    def stop(self, replay_id: int, *, why: str) -> bool:
        """Send nothing more."""
        return self.filter(pk=replay_id, stopped_at=None).update(stopped_at=Now(), stopped_because=why) == 1


class Replay(models.Model):
    """Some dead letters, sent again together."""

    requested_at = models.DateTimeField(_("requested at"), db_default=Now())
    requested_by = models.CharField(_("requested by"), max_length=200)
    why = models.TextField(_("why"), blank=True)
    selection = models.JSONField(_("selection"), default=dict)
    dead_letter_count = models.PositiveIntegerField(_("dead letters"), default=0)
    canary_count = models.PositiveIntegerField(_("canary"), default=0)
    # Messages a second that may leave; 0 is as fast as the relay can.
    rate_per_second = models.PositiveIntegerField(_("rate per second"), default=0)
    released_at = models.DateTimeField(_("released at"), null=True)
    stopped_at = models.DateTimeField(_("stopped at"), null=True)
    stopped_because = models.TextField(_("stopped because"), blank=True, default="")

    objects = ReplayQuerySet.as_manager()

    class Meta:
        db_table = "baton_replay"
        verbose_name = _("replay")
        verbose_name_plural = _("replays")
        default_permissions = ("view",)
        indexes = [
            models.Index(
                "id", name="baton_replay_watching", condition=Q(released_at__isnull=True, stopped_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"replay {self.pk}"

    @property
    def is_watching(self) -> bool:
        """Tell whether the rest waits for the canary."""
        return self.released_at is None and self.stopped_at is None
