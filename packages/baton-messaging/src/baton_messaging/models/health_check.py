"""A health check writes a row and deletes it again, in one transaction: what it asks is whether a commit comes back.

The table is always empty. A row of its own for each process would hold the next check up where the last one hangs.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class HealthCheck(models.Model):
    """The row that is not there for long."""

    written_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "baton_health_check"
        verbose_name = _("health check")
        verbose_name_plural = _("health checks")
        default_permissions = ()

    def __str__(self) -> str:
        return f"health check of {self.written_at}"
