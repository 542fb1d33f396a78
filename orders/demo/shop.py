"""The shop as its customers' programs see it: the JSON API over HTTP, and nothing else."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import Request, urlopen

Order = dict[str, Any]

SKUS = ("TEA-SENCHA", "MUG-STONE")  # of the seed's products those with the most stock
CLIENTS = 8
TIMEOUT_SECONDS = 30
POLL_SECONDS = 0.25
FINAL = ("confirmed", "rejected", "cancelled")
SETTLED = ("done", "dead")


class Shop:
    """Places orders and watches them."""

    def __init__(self, address: str) -> None:
        self._address = address

    def place(self, count: int) -> list[str]:
        """Place orders from several clients at once; return their ids."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            return list(clients.map(self._place_one, range(count)))

    def wait_until_one_is_confirmed(self, order_ids: list[str]) -> None:
        """Return as soon as one order has been all the way: the pipeline is at work."""
        _wait(lambda: any(self.order(order_id)["status"] == "confirmed" for order_id in order_ids), seconds=60)

    def wait_until_settled(self, order_ids: list[str], *, seconds: float) -> list[Order]:
        """Return the orders once nothing more happens to them, or as they are when time is up."""
        _wait(lambda: all(is_settled(self.order(order_id)) for order_id in order_ids), seconds=seconds)
        return [self.order(order_id) for order_id in order_ids]

    def order(self, order_id: str) -> Order:
        """Return what the API says of an order."""
        with urlopen(f"{self._address}/api/orders/{order_id}", timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            order: Order = json.load(answer)
            return order

    def _place_one(self, number: int) -> str:
        body = {
            "customer_name": f"Customer {number}",
            "customer_email": f"customer{number}@example.com",
            "language": "ja" if number % 2 else "en",
            "lines": [{"sku": sku, "quantity": 1} for sku in SKUS],
        }
        request = Request(f"{self._address}/api/orders", json.dumps(body).encode())  # noqa: S310 - our own address
        request.add_header("Content-Type", "application/json")
        with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            return str(json.load(answer)["order_id"])


def is_settled(order: Order) -> bool:
    """Tell whether nothing more happens to the order by itself."""
    return order["status"] in FINAL and all(row["state"] in SETTLED for row in order["consumers"])


def _wait(condition: Callable[[], bool], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
