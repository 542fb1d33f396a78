"""The count of orders for one address in one window of time: how ``orders.limits`` remembers, for minutes."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class OrderCount(models.Model):
    """One address in one window. ``key`` is a keyed hash of both: the table tells no address."""

    key = models.CharField(_("key"), max_length=64, primary_key=True)
    ends_at = models.DateTimeField(_("ends at"))
    count = models.PositiveIntegerField(_("count"))

    class Meta:
        verbose_name = _("count of orders")
        verbose_name_plural = _("counts of orders")
        default_permissions = ()
        indexes = [models.Index(fields=["ends_at"], name="order_count_by_age")]

    def __str__(self) -> str:
        return f"{self.count} until {self.ends_at:%H:%M}"
