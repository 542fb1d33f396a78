"""The audit tells who did what to which dead letters, when and why, and what was refused.

Invariant: rows are only ever added; a trigger of migration 0001 refuses UPDATE and DELETE. They point to nothing by
foreign key, so that neither the end of a user nor the purge of a dead letter touches them.
"""

import json

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    """What was done, or asked for."""

    REPLAY = "replay", _("replay")
    STOP = "stop", _("stop a replay")
    RELEASE = "release", _("go on without waiting for the canary")
    EDIT = "edit", _("edit and replay")
    REDIRECT = "redirect", _("redirect")
    DISCARD = "discard", _("discard")
    RESTORE = "restore", _("restore")
    PAUSE = "pause", _("pause")
    RESUME = "resume", _("resume")
    CANCEL = "cancel", _("cancel a future message")
    MOVE = "move", _("move a future message")


class Outcome(models.TextChoices):
    """What came of it."""

    DONE = "done", _("done")
    REFUSED = "refused", _("refused")


class AuditEntry(models.Model):
    """One operation by one person (or by the machinery, when a canary dies)."""

    at = models.DateTimeField(_("at"), db_default=Now())
    actor = models.CharField(_("who"), max_length=200)
    user_id = models.BigIntegerField(_("user id"), null=True)
    via = models.CharField(_("via"), max_length=20)
    action = models.CharField(_("what"), max_length=20, choices=Action.choices)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices)
    why = models.TextField(_("why"), blank=True)
    dead_letter_count = models.PositiveIntegerField(_("dead letters"), default=0)
    details = models.JSONField(_("details"), default=dict)

    class Meta:
        db_table = "baton_audit_entry"
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=models.Q(action__in=Action.values), name="baton_audit_action_known"),
            models.CheckConstraint(condition=models.Q(outcome__in=Outcome.values), name="baton_audit_outcome_known"),
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} ({self.outcome})"

    @property
    def details_text(self) -> str:
        """Return the details for people."""
        return json.dumps(self.details, indent=1, ensure_ascii=False)


class AuditedDeadLetter(models.Model):
    """One dead letter that an operation touched, by numbers that outlive it."""

    entry = models.ForeignKey(AuditEntry, on_delete=models.PROTECT, related_name="dead_letters", db_index=False)
    dead_letter_id = models.BigIntegerField()
    message_id = models.UUIDField(null=True)
    consumer = models.CharField(max_length=200)

    class Meta:
        db_table = "baton_audited_dead_letter"
        verbose_name = _("audited dead letter")
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["dead_letter_id", "entry"], name="baton_audited_once_per_entry")]

    def __str__(self) -> str:
        return f"{self.consumer} {self.message_id}"
