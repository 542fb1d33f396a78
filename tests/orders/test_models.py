"""The rules that the database itself keeps, and the verbs that change an order."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from orders.models import Order, OrderLine, OrderQuerySet, OrderStatus, Product
from tests.orders.factories import an_order, at_once

pytestmark = pytest.mark.django_db


def order(**changes: Any) -> Order:
    fields = {"language": "en", "currency": "EUR", "total": Decimal(1), "request_fingerprint": "0" * 64}
    return Order(**{**fields, **changes})


def line(**changes: Any) -> OrderLine:
    return OrderLine(**{"order": an_order(PEN=1), "product_id": "MUG", "quantity": 1, "unit_price": 1, **changes})


BROKEN_RULES: dict[str, Callable[[], models.Model]] = {
    "order_status_known": lambda: order(status="lost", settled_at=timezone.now()),
    "order_language_known": lambda: order(language="fr"),
    "order_total_not_negative": lambda: order(total=Decimal(-1)),
    "order_settled_at_says_what_status_says": lambda: order(status=OrderStatus.CONFIRMED),
    "order_line_quantity_positive": lambda: line(quantity=0),
    "order_line_unit_price_not_negative": lambda: line(unit_price=Decimal(-1)),
    "order_line_once_per_product": lambda: line(product_id="PEN"),
    "product_sku_well_formed": lambda: Product(sku="A\n", name="a", price=1),
    "product_price_not_negative": lambda: Product(sku="A", name="a", price=-1),
    "product_currency_iso": lambda: Product(sku="A", name="a", price=1, currency="eur"),
}


@pytest.mark.parametrize("constraint", BROKEN_RULES)
def test_database_refuses_what_breaks_a_rule(catalogue: None, constraint: str) -> None:
    broken = BROKEN_RULES[constraint]()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        broken.save(force_insert=True)


def test_database_refuses_a_second_order_with_the_same_key(db: None) -> None:
    order(idempotency_key="k").save(force_insert=True)
    with pytest.raises(IntegrityError, match="order_once_per_idempotency_key"), transaction.atomic():
        order(idempotency_key="k").save(force_insert=True)


@pytest.mark.parametrize("verb", [OrderQuerySet.confirm, OrderQuerySet.reject, OrderQuerySet.cancel])
def test_an_accepted_order_is_settled_once(catalogue: None, verb: Callable[..., bool]) -> None:
    placed = an_order()
    assert verb(Order.objects.all(), placed.pk)
    settled = Order.objects.get(pk=placed.pk)
    assert settled.is_final
    assert settled.settled_at is not None
    for other in (OrderQuerySet.confirm, OrderQuerySet.reject, OrderQuerySet.cancel):
        assert not other(Order.objects.all(), placed.pk)
    assert Order.objects.get(pk=placed.pk).status == settled.status


@pytest.mark.django_db(transaction=True)
def test_of_twenty_that_settle_an_order_at_once_one_succeeds(committed_catalogue: None) -> None:
    placed = an_order()
    assert sum(at_once(lambda: Order.objects.cancel(placed.pk) or Order.objects.confirm(placed.pk))) == 1


def test_a_flag_leaves_the_status_alone(catalogue: None) -> None:
    placed = an_order()
    Order.objects.confirm(placed.pk)
    assert Order.objects.flag(placed.pk)
    assert not Order.objects.flag(placed.pk)
    flagged = Order.objects.get(pk=placed.pk)
    assert (flagged.status, flagged.needs_attention) == (OrderStatus.CONFIRMED, True)


def test_texts_of_the_models_hold_no_personal_data(catalogue: None) -> None:
    placed = an_order()
    texts = [str(placed), repr(placed), *(str(part) for part in placed.lines.all())]
    assert not any("Ann" in text or "@" in text for text in texts)


def test_a_product_is_named_in_the_readers_language(catalogue: None) -> None:
    mug, pen = Product.objects.get(pk="MUG"), Product.objects.get(pk="PEN")
    assert (mug.name_in("ja"), mug.name_in("en"), pen.name_in("ja")) == ("青いマグカップ", "Blue mug", "Fountain pen")
