"""Stock, and what is set aside of it for which order.

Invariants, held by constraints of the database: no SKU is ever promised beyond what is on hand
(``stock_reserved_within_on_hand``); an order has one reservation (its primary key); a reservation names a SKU once.
Lock order everywhere: reservations by order_id, then stock by SKU (F26); the querysets below keep it.
"""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection, models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class StockItemQuerySet(models.QuerySet["StockItem"]):
    """Verbs over many stock rows, one statement each."""

    def lock_available(self, skus: Collection[str]) -> dict[str, int]:
        """Lock the rows in SKU order and return the pieces that are left per SKU; unknown SKUs are left out.

        The lock leaves the key alone (NO KEY), so that inserting a line that refers to the row need not wait.
        """
        rows = self.filter(sku__in=skus).order_by("sku").select_for_update(no_key=True)
        return dict(rows.values_list("sku", models.F("on_hand") - models.F("reserved")))

    def available(self) -> dict[str, int]:
        """Return the pieces that are left per SKU, without locking."""
        return dict(self.order_by().values_list("sku", models.F("on_hand") - models.F("reserved")))

    def shift_reserved(self, quantities: Mapping[str, int]) -> None:
        """Add the quantities (negative to give back) to ``reserved``. The rows must be locked."""
        with connection.cursor() as cursor:
            cursor.execute(
                """
                UPDATE inventory_stockitem AS stock
                SET reserved = stock.reserved + shift.quantity
                FROM unnest(%s::text[], %s::integer[]) AS shift (sku, quantity)
                WHERE stock.sku = shift.sku
                """,
                [list(quantities), list(quantities.values())],
            )


class StockItem(models.Model):
    """How many pieces of a SKU there are, and how many of them are set aside for orders."""

    sku = models.CharField(_("SKU"), max_length=64, primary_key=True)
    on_hand = models.IntegerField(_("on hand"), help_text=_("Pieces in the warehouse, the reserved ones included."))
    reserved = models.IntegerField(_("reserved"), default=0, help_text=_("Pieces set aside for orders."))

    objects = StockItemQuerySet.as_manager()

    class Meta:
        verbose_name = _("stock item")
        verbose_name_plural = _("stock")
        ordering = ["sku"]
        constraints = [
            models.CheckConstraint(
                name="stock_reserved_within_on_hand",
                condition=models.Q(reserved__gte=0, reserved__lte=models.F("on_hand")),
                violation_error_message=_("No more may be reserved than is on hand."),
            ),
        ]

    def __str__(self) -> str:
        return self.sku

    @property
    def available(self) -> int:
        """Return the pieces that a new order can still get."""
        return self.on_hand - self.reserved


class ReservationQuerySet(models.QuerySet["Reservation"]):
    """Verbs over many reservations, one statement each."""

    def claim(self, order_ids: Collection[UUID], *, state: "Reservation.State") -> set[UUID]:
        """Insert the reservations that do not exist yet, in order_id order, and return their ids.

        A transaction that inserts the same id is waited for; if it commits, the id is not ours.
        """
        now = timezone.now()
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO inventory_reservation (order_id, state, created_at, updated_at)
                SELECT order_id, %s, %s, %s FROM unnest(%s::uuid[]) AS wanted (order_id) ORDER BY order_id
                ON CONFLICT (order_id) DO NOTHING
                RETURNING order_id
                """,
                [state.value, now, now, list(order_ids)],
            )
            return {row[0] for row in cursor.fetchall()}

    def lock_held(self, order_ids: Collection[UUID]) -> list[UUID]:
        """Lock those that still hold stock, in order_id order, and return their ids."""
        held = self.filter(order_id__in=order_ids, state=Reservation.State.RESERVED)
        return list(held.order_by("order_id").select_for_update(no_key=True).values_list("order_id", flat=True))

    def move_to(self, state: "Reservation.State", order_ids: Collection[UUID]) -> None:
        """Set the state of the given reservations, which must be locked or new in this transaction."""
        self.filter(order_id__in=order_ids).update(state=state, updated_at=timezone.now())


class Reservation(models.Model):
    """The answer to one order. ``released`` without lines is the tombstone of a cancel that came first."""

    class State(models.TextChoices):
        RESERVED = "reserved", _("reserved")
        REJECTED = "rejected", _("rejected")
        RELEASED = "released", _("released")

    order_id = models.UUIDField(_("order"), primary_key=True, editable=False)
    state = models.CharField(_("state"), max_length=16, choices=State.choices)
    created_at = models.DateTimeField(_("created at"))
    updated_at = models.DateTimeField(_("updated at"))

    objects = ReservationQuerySet.as_manager()

    class Meta:
        verbose_name = _("reservation")
        verbose_name_plural = _("reservations")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="reservation_newest_first")]
        constraints = [
            models.CheckConstraint(
                name="reservation_state_known", condition=models.Q(state__in=["reserved", "rejected", "released"])
            ),
        ]

    def __str__(self) -> str:
        return str(self.order_id)


class ReservationLine(models.Model):
    """The pieces of one SKU that a reservation holds, or held until it was released."""

    # No index of its own: the unique constraint below begins with it.
    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="lines", db_index=False)
    item = models.ForeignKey(StockItem, on_delete=models.PROTECT, db_column="sku", verbose_name=_("SKU"))
    quantity = models.IntegerField(_("quantity"))

    class Meta:
        verbose_name = _("reservation line")
        verbose_name_plural = _("reservation lines")
        constraints = [
            models.UniqueConstraint(name="reservation_line_once_per_sku", fields=["reservation", "item"]),
            models.CheckConstraint(name="reservation_line_quantity_positive", condition=models.Q(quantity__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.item_id}"
