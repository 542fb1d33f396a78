"""An expiry counts the messages of one plain or scheduled task whose own ``expires`` was over when their turn came.

Never pruned and never counted down, so that a rate can be taken of it. A consumer's message is no such thing: one that
expires is lost work, and a dead letter.
"""

from typing import Final

from django.db import connection, models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

COUNT_UP: Final = """
    INSERT INTO baton_expiry AS known (task, message_count, expired_at) VALUES (%s, 1, clock_timestamp())
    ON CONFLICT (task) DO UPDATE SET message_count = known.message_count + 1, expired_at = excluded.expired_at
"""


class ExpiryQuerySet(models.QuerySet["Expiry"]):
    """The one verb."""

    def count_up(self, task: str) -> None:
        """Count one more message of the task."""
        with connection.cursor() as cursor:
            cursor.execute(COUNT_UP, [task])


class Expiry(models.Model):
    """The count of one task."""

    task = models.CharField(_("task"), max_length=200, unique=True)
    message_count = models.PositiveBigIntegerField(_("messages dropped"), default=0)
    expired_at = models.DateTimeField(_("last at"), db_default=Now())

    objects = ExpiryQuerySet.as_manager()

    class Meta:
        db_table = "baton_expiry"
        verbose_name = _("expiry")
        verbose_name_plural = _("expiries")
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.task}: {self.message_count}"
