"""What stands in an export: one row per order, its columns typed, in the order of the order's id.

A row is read once from ``source`` (plain values, one SELECT) and turned into text of the file by SQL around it
(``csv_format``, ``xlsx_format``): no value passes through Python.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.conf import settings
from django.db.models import Case, CharField, F, Value, When
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from orders.models import OrderQuerySet, OrderStatus


class Kind(Enum):
    """How a column is written."""

    TEXT = "text"  # what people write
    CODE = "code"  # skus, addresses, numbers to call: text that may look like a number and must keep its zeros
    LABEL = "label"  # words and ids of our own making: needs no look, since it holds nothing that could harm
    MOMENT = "moment"  # a point in time, as wall clock of the project's time zone, to the second
    AMOUNT = "amount"  # money: a number with two decimals


@dataclass(frozen=True)
class Column:
    """One column: its title, how it is written, how wide it is shown (in characters)."""

    title: str | Promise
    kind: Kind
    width: int


@dataclass(frozen=True)
class Source:
    """A SELECT whose columns are those of the file, in their order; the first one is unique and sorts the rows.

    ``count_sql`` returns the number of its rows, without reading what is not needed for that.
    """

    sql: str
    params: Sequence[Any]
    count_sql: str
    count_params: Sequence[Any]
    columns: Sequence[Column]

    @property
    def aliases(self) -> list[str]:
        """Return the names by which the SQL around the SELECT calls its columns."""
        return [f"c{position}" for position in range(len(self.columns))]


# Of the order in the row: one look at an index each, instead of a join that would need all lines at once. It stands
# outside of the sorted orders, so that rows flow as soon as the orders are sorted, not when all lines are read.
_ITEMS = """(
    SELECT string_agg(line.product_id || ' × ' || line.quantity, '; ' ORDER BY line.id)
    FROM orders_orderline AS line WHERE line.order_id = sorted.id
)"""


def order_columns() -> list[Column]:
    """Return the columns of an export of orders, titled in the active language."""
    zone = settings.TIME_ZONE
    return [
        Column(_("Order id"), Kind.LABEL, 38),
        Column(_("Reference"), Kind.LABEL, 15),
        Column(_("Placed at (%(zone)s)") % {"zone": zone}, Kind.MOMENT, 20),
        Column(_("Status"), Kind.LABEL, 12),
        Column(_("Customer"), Kind.TEXT, 28),
        Column(_("E-mail"), Kind.CODE, 32),
        Column(_("Language"), Kind.LABEL, 10),
        Column(_("Note"), Kind.TEXT, 40),
        Column(_("Items (SKU × quantity)"), Kind.CODE, 40),
        Column(_("Currency"), Kind.CODE, 10),
        Column(_("Total"), Kind.AMOUNT, 14),
        Column(_("Settled at (%(zone)s)") % {"zone": zone}, Kind.MOMENT, 20),
    ]


def order_source(orders: OrderQuerySet) -> Source:
    """Return what is read for an export of these orders, with words in the active language."""
    rows = orders.annotate(status_in_words=_status_in_words()).order_by("pk")
    sorted_sql, params = rows.values_list(
        "id", "placed_at", "status_in_words", "customer_name", "customer_email", "language", "note", "currency",
        "total", "settled_at",
    ).query.sql_with_params()  # fmt: skip
    count_sql, count_params = orders.values_list("pk").query.sql_with_params()
    return Source(
        sql=f"""
            SELECT id, upper(right(id::text, 12)), placed_at, status, customer_name, customer_email, language, note,
                {_ITEMS}, currency, total, settled_at
            FROM ({sorted_sql} OFFSET 0) AS sorted
                (id, placed_at, status, customer_name, customer_email, language, note, currency, total, settled_at)
            ORDER BY sorted.id
        """,  # noqa: S608 - made of constants and of what the ORM wrote
        params=params,
        count_sql=f"SELECT count(*) FROM ({count_sql}) AS orders",  # noqa: S608
        count_params=count_params,
        columns=order_columns(),
    )


def _status_in_words() -> Case:
    words = [When(status=status, then=Value(str(status.label))) for status in OrderStatus]
    return Case(*words, default=F("status"), output_field=CharField())
