"""An interruption notes a task that gave no answer: its child was killed, say, or ran out of time.

The broker only counts returns. This is how the list of dead letters knows a hard time limit from a killed process, and
which signal it was. Written with a connection of its own, so the main process keeps none open (F21).
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class InterruptionKind(models.TextChoices):
    """How it ended."""

    KILLED = "killed", _("killed")
    TIME_LIMIT = "time_limit", _("hard time limit")
    REVOKED = "revoked", _("revoked")
    UNKNOWN_TASK = "unknown_task", _("unknown task")
    FAILED = "failed", _("failed outside its handler")


class Interruption(models.Model):
    """One run of one Celery message that gave no answer."""

    task_id = models.CharField(max_length=200)
    consumer = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=InterruptionKind.choices)
    detail = models.CharField(max_length=500, blank=True)
    traceback = models.TextField(blank=True, default="")
    worker = models.CharField(max_length=200, blank=True)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "baton_interruption"
        verbose_name = _("interruption")
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=InterruptionKind.values), name="baton_interruption_kind_known"
            )
        ]
        indexes = [
            models.Index("task_id", name="baton_interruption_by_task"),
            models.Index("seen_at", name="baton_interruption_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} {self.task_id}: {self.kind}"
