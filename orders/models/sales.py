"""Sales per day. Kept by increments, so right only if each message counts exactly once: the inbox sees to that."""

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from django.db import connection, models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class SalesIncrement(NamedTuple):
    """What to add to one day's figures."""

    day: datetime.date
    currency: str
    order_count: int = 0
    amount: Decimal = Decimal(0)
    cancelled_count: int = 0
    cancelled_amount: Decimal = Decimal(0)


_ADD = """
INSERT INTO orders_dailysales (day, currency, order_count, amount, cancelled_count, cancelled_amount)
SELECT day, currency, sum(order_count), sum(amount), sum(cancelled_count), sum(cancelled_amount)
FROM unnest(%s::date[], %s::text[], %s::bigint[], %s::numeric[], %s::bigint[], %s::numeric[])
  AS added (day, currency, order_count, amount, cancelled_count, cancelled_amount)
GROUP BY day, currency
ORDER BY day, currency
ON CONFLICT (day, currency) DO UPDATE SET
  order_count = orders_dailysales.order_count + excluded.order_count,
  amount = orders_dailysales.amount + excluded.amount,
  cancelled_count = orders_dailysales.cancelled_count + excluded.cancelled_count,
  cancelled_amount = orders_dailysales.cancelled_amount + excluded.cancelled_amount
"""


class DailySalesQuerySet(models.QuerySet["DailySales"]):
    """The one way to change the figures."""

    def add(self, increments: Iterable[SalesIncrement]) -> None:
        """Add any number of increments in one statement (the ORM's upsert can only overwrite).

        Rows are taken in the order of day and currency, so that two workers cannot wait for each other in a circle.
        """
        columns = [list(column) for column in zip(*increments, strict=True)]
        if columns:
            with connection.cursor() as cursor:
                cursor.execute(_ADD, columns)


class DailySales(models.Model):
    """One day in one currency. A cancellation is booked on the day on which its order was placed."""

    day = models.DateField(_("day"))
    currency = models.CharField(_("currency"), max_length=3)
    order_count = models.BigIntegerField(_("order count"))
    amount = models.DecimalField(_("amount"), max_digits=20, decimal_places=2)
    cancelled_count = models.BigIntegerField(_("cancelled count"))
    cancelled_amount = models.DecimalField(_("cancelled amount"), max_digits=20, decimal_places=2)

    objects = DailySalesQuerySet.as_manager()

    class Meta:
        verbose_name = _("daily sales")
        verbose_name_plural = _("daily sales")
        ordering = ["-day", "currency"]
        constraints = [
            models.UniqueConstraint(fields=["day", "currency"], name="daily_sales_once_per_day_and_currency"),
            models.CheckConstraint(
                condition=Q(order_count__gte=0, amount__gte=0, cancelled_count__gte=0, cancelled_amount__gte=0),
                name="daily_sales_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.currency}"
