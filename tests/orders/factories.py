"""Products and requests for the tests of orders."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any, TypeVar

from django.db import connection

from orders import services
from orders.models import Order, Product
from orders.requests import OrderRequest, RequestedLine

R = TypeVar("R")


def products() -> None:
    Product.objects.bulk_create(
        [
            Product(sku="MUG", name="Blue mug", name_ja="青いマグカップ", price=Decimal("9.50")),
            Product(sku="PEN", name="Fountain pen", price=Decimal("45.00")),
            Product(sku="OLD", name="Out of the catalogue", price=Decimal("1.00"), is_active=False),
            Product(sku="DOLLAR", name="Priced otherwise", price=Decimal("1.00"), currency="USD"),
            Product(sku="DEAR", name="Beyond price", price=Decimal("9999999999.99")),
        ]
    )


def a_request(*, language: str = "en", **quantities: int) -> OrderRequest:
    return OrderRequest(
        customer_name="Ann Example",
        customer_email="ann@example.com",
        language=language,
        note="ring twice",
        lines=tuple(RequestedLine(sku, quantity) for sku, quantity in (quantities or {"MUG": 2}).items()),
    )


def an_order(*, language: str = "en", **quantities: int) -> Order:
    return services.place_order(a_request(language=language, **quantities))


def bare_order() -> Order:
    """Return an order that nothing was published of."""
    return Order.objects.create(
        customer_name="Ann Example",
        customer_email="ann@example.com",
        language="en",
        currency="EUR",
        total=Decimal("9.50"),
        request_fingerprint="",
    )


def a_body(**changes: Any) -> dict[str, Any]:
    return {
        "customer_name": "Ann Example",
        "customer_email": "ann@example.com",
        "lines": [{"sku": "MUG", "quantity": 2}],
        **changes,
    }


def at_once(call: Callable[[], R], *, times: int = 20) -> list[R]:
    """Run a call in as many threads, each with a connection of its own, started together."""
    start = Barrier(times)

    def run() -> R:
        start.wait(timeout=30)
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run) for _ in range(times)]]
