"""A recovery counts the messages of one consumer that the reconciler has sent again: the broker had lost them.

Never pruned and never counted down, so that a rate can be taken of it.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Recovery(models.Model):
    """The count of one consumer."""

    consumer = models.CharField(_("consumer"), max_length=200, unique=True)
    message_count = models.PositiveBigIntegerField(_("messages sent again"), default=0)
    recovered_at = models.DateTimeField(_("last at"), db_default=Now())

    class Meta:
        db_table = "baton_recovery"
        verbose_name = _("recovery")
        verbose_name_plural = _("recoveries")
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.consumer}: {self.message_count}"
