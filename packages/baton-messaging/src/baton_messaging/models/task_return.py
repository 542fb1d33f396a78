"""What a task of ``django.tasks`` has returned: written by the transaction of its inbox row, read by its result."""

from typing import Any
from uuid import UUID

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.database.json_field import JSONField


class TaskReturnQuerySet(models.QuerySet["TaskReturn"]):
    """Verbs of the worker."""

    def keep(self, message_id: UUID, value: Any) -> None:
        """Keep what the task returned; of one that ran again, what it returned last."""
        self.update_or_create(message_id=message_id, defaults={"value": value, "returned_at": Now()})


class TaskReturn(models.Model):
    """The value that one task returned, as JSON."""

    message_id = models.UUIDField(_("message"), primary_key=True)
    value = JSONField(_("value"), null=True)
    returned_at = models.DateTimeField(_("returned at"), db_default=Now())

    objects = TaskReturnQuerySet.as_manager()

    class Meta:
        db_table = "baton_task_return"
        verbose_name = _("value of a task")
        verbose_name_plural = _("values of tasks")
        default_permissions = ("view",)
        indexes = [models.Index("returned_at", name="baton_task_return_by_age")]

    def __str__(self) -> str:
        return str(self.message_id)
