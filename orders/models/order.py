"""Orders: accepted at once, settled later by what the stock says or by the customer's cancelling.

Invariant: an order leaves ``accepted`` at most once. Every verb below is one UPDATE whose WHERE clause demands the
state that it leaves, so of two that race exactly one changes the row and the other is told so.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from orders import requests
from orders.money import Money
from orders.reference import BACKWARDS, reference_of


class OrderStatus(models.TextChoices):
    """Where an order stands. All but the first are final."""

    ACCEPTED = "accepted", _("accepted")
    CONFIRMED = "confirmed", _("confirmed")
    REJECTED = "rejected", _("rejected")
    CANCELLED = "cancelled", _("cancelled")


class OrderQuerySet(models.QuerySet["Order"]):
    """Changes of state. Each returns whether it changed the order."""

    def confirm(self, order_id: UUID) -> bool:
        """Settle an accepted order: its stock is reserved."""
        return self._settle(order_id, OrderStatus.CONFIRMED)

    def reject(self, order_id: UUID) -> bool:
        """Settle an accepted order: there is not enough stock."""
        return self._settle(order_id, OrderStatus.REJECTED)

    def cancel(self, order_id: UUID) -> bool:
        """Settle an accepted order: the customer does not want it any more."""
        return self._settle(order_id, OrderStatus.CANCELLED)

    def accepted_before(self, moment: datetime) -> "OrderQuerySet":
        """Return what was placed before a time and is not settled yet, the oldest first."""
        return self.filter(status=OrderStatus.ACCEPTED, placed_at__lt=moment).order_by("pk")

    def flag(self, order_id: UUID) -> bool:
        """Mark that a person must look at the order. Its status stays what it is, also when it is final.

        Call in a transaction. The row is locked though it may have the mark: who takes that back waits, and then finds
        why it has to stay.
        """
        marks = self.filter(pk=order_id).select_for_update(no_key=True).values_list("needs_attention", flat=True)
        return marks.first() is False and self.filter(pk=order_id).update(needs_attention=True) == 1

    def unflag(self, order_ids: Iterable[UUID]) -> int:
        """Take the mark back: every dead letter of the orders was dealt with. Return how many had it."""
        return self.filter(pk__in=list(order_ids), needs_attention=True).update(needs_attention=False)

    def _settle(self, order_id: UUID, status: OrderStatus) -> bool:
        unsettled = self.filter(pk=order_id, status=OrderStatus.ACCEPTED)
        return unsettled.update(status=status, settled_at=Now()) == 1


class Order(models.Model):
    """One order of one customer. Ids grow with time (UUIDv7), so the newest come last by primary key."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    customer_name = models.CharField(_("customer's name"), max_length=requests.MAX_NAME_LENGTH)
    customer_email = models.EmailField(_("customer's e-mail"), max_length=requests.MAX_EMAIL_LENGTH)
    language = models.CharField(_("language"), max_length=2, choices=[("en", _("English")), ("ja", _("Japanese"))])
    note = models.CharField(_("note"), max_length=requests.MAX_NOTE_LENGTH, blank=True)
    currency = models.CharField(_("currency"), max_length=3)
    total = models.DecimalField(_("total"), max_digits=14, decimal_places=2)
    status = models.CharField(_("status"), max_length=9, choices=OrderStatus, default=OrderStatus.ACCEPTED)
    needs_attention = models.BooleanField(
        _("needs attention"), default=False, help_text=_("Set while a message of this order lies in the dead letters.")
    )
    placed_at = models.DateTimeField(_("placed at"), default=timezone.now)
    settled_at = models.DateTimeField(_("settled at"), null=True, blank=True)
    idempotency_key = models.CharField(  # noqa: DJ001  (NULL: no key. Several '' would not be unique.)
        _("idempotency key"), max_length=requests.MAX_IDEMPOTENCY_KEY_LENGTH, null=True, blank=True
    )
    request_fingerprint = models.CharField(_("request fingerprint"), max_length=64)
    placed_by = models.CharField(  # orders/placer.py
        _("placed by"),
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text=_("A hash of the browser's key."),
    )

    objects = OrderQuerySet.as_manager()

    class Meta:
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=OrderStatus.values), name="order_status_known"),
            models.CheckConstraint(condition=Q(language__in=["en", "ja"]), name="order_language_known"),
            models.CheckConstraint(condition=Q(total__gte=0), name="order_total_not_negative"),
            models.CheckConstraint(
                condition=Q(status=OrderStatus.ACCEPTED, settled_at__isnull=True)
                | (~Q(status=OrderStatus.ACCEPTED) & Q(settled_at__isnull=False)),
                name="order_settled_at_says_what_status_says",
            ),
            models.UniqueConstraint(fields=["idempotency_key"], name="order_once_per_idempotency_key"),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(needs_attention=True), name="order_needing_attention"),
            models.Index(fields=["id"], condition=Q(status=OrderStatus.ACCEPTED), name="order_accepted"),
            models.Index(fields=["placed_by", "-id"], condition=~Q(placed_by=""), name="order_of_browser"),
            models.Index(OpClass(BACKWARDS, name="text_pattern_ops"), name="order_by_reference"),
        ]

    def __str__(self) -> str:
        return self.reference

    def get_absolute_url(self) -> str:
        """Return the order's page."""
        return reverse("orders:order", args=[self.pk])

    @property
    def reference(self) -> str:
        """Return what people call the order by: the last block of its id, in capitals."""
        return reference_of(self.pk)

    @property
    def is_final(self) -> bool:
        """Tell whether the status can change no more."""
        return self.status != OrderStatus.ACCEPTED

    @property
    def total_price(self) -> Money:
        """Return what the customer pays."""
        return Money(self.total, self.currency)
