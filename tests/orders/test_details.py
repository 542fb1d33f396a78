"""The answer to the port of notifications."""

from dataclasses import fields
from decimal import Decimal

import pytest
from baton_messaging.errors import PermanentError
from uuid_utils.compat import uuid7

from notifications import orders as port
from orders.details import DetailLine, OrderDetails, order_details
from tests.orders.factories import an_order

pytestmark = pytest.mark.django_db


def test_a_mail_learns_all_it_needs_in_the_customers_language(catalogue: None) -> None:
    order = an_order(language="ja", MUG=2, PEN=1)
    details = port.order_details(order.pk)
    assert (details.customer_name, details.customer_email) == ("Ann Example", "ann@example.com")
    assert (details.reference, details.status, details.language) == (order.reference, "accepted", "ja")
    assert (details.currency, details.total) == ("EUR", Decimal("64.00"))
    lines: tuple[object, ...] = details.lines
    assert lines == (
        DetailLine("MUG", "青いマグカップ", 2, Decimal("9.50")),
        DetailLine("PEN", "Fountain pen", 1, Decimal("45.00")),
    )


def test_the_answer_has_what_the_port_promises() -> None:
    assert {field.name for field in fields(port.OrderDetails)} == {field.name for field in fields(OrderDetails)}
    assert {field.name for field in fields(port.LineDetails)} == set(DetailLine._fields)


def test_an_unknown_order_is_a_permanent_error(db: None) -> None:
    with pytest.raises(PermanentError, match="found none with"):
        order_details(uuid7())


def test_details_show_no_personal_data_in_tracebacks(catalogue: None) -> None:
    assert "Ann" not in repr(order_details(an_order().pk))
