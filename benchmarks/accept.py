"""How much longer is accepting an order than inserting its rows? Both answered by the same gunicorn."""

import http.client
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from baton_messaging.models import OutboxMessage

from benchmarks.report import Check, Figure, Section, ratio
from benchmarks.rounds import Rounds
from orders.models import Order, Product

PLAIN, BATON = "/plain/orders", "/api/orders"
MAX_RATIO = 1.3
CLIENT_COUNT = 6  # keep-alive connections, each sends its next request when it has the answer to its last
WARM_UP_COUNT = 48  # requests that fill caches and open the database connections of the threads
SKUS = ("BENCH-A", "BENCH-B", "BENCH-C")


def measure(*, rounds: Rounds, request_count: int) -> Section:
    """Place `request_count` orders a side and round."""
    Product.objects.bulk_create(Product(sku=sku, name=sku, price=Decimal("9.90")) for sku in SKUS)
    samples: dict[str, list[float]] = {PLAIN: [], BATON: []}
    for path in samples:
        _milliseconds_per_request(path, WARM_UP_COUNT)
    for path in rounds.of((PLAIN, BATON)):
        samples[path].append(_milliseconds_per_request(path, request_count))
    _check_each_is_there(WARM_UP_COUNT + len(samples[BATON]) * request_count)
    plain = Figure("plain Django view", samples[PLAIN], "ms a request")
    baton = Figure("Baton", samples[BATON], "ms a request")
    return Section(
        f"accept: POST of an order with {len(SKUS)} lines, {CLIENT_COUNT} clients at a time, {request_count} requests",
        [plain, baton],
        [Check("Baton's time / plain Django's", ratio(baton, plain), MAX_RATIO, at_most=True)],
    )


def _milliseconds_per_request(path: str, request_count: int) -> float:
    """Return wall-clock time over requests: what the machine needs for one, with all clients busy."""
    body = json.dumps(
        {
            "customer_name": "Ann Example",
            "customer_email": "ann@example.com",
            "lines": [{"sku": sku, "quantity": 2} for sku in SKUS],
        }
    )
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENT_COUNT) as clients:
        share = request_count // CLIENT_COUNT
        counts = [share + (number < request_count % CLIENT_COUNT) for number in range(CLIENT_COUNT)]
        for client in [clients.submit(_client(path, body, count)) for count in counts]:
            client.result()
    return (time.perf_counter() - started) / request_count * 1000


def _client(path: str, body: str, request_count: int) -> Callable[[], None]:
    headers = {"Content-Type": "application/json", "X-Forwarded-Proto": "https"}

    def place_orders() -> None:
        connection = http.client.HTTPConnection(os.environ["WEB_HOST"], int(os.environ["WEB_PORT"]), timeout=30)
        for _ in range(request_count):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != http.HTTPStatus.ACCEPTED:
                raise RuntimeError(f"Expected 202 from {path}, got {answer.status}: {text[:200]!r}")
        connection.close()

    return place_orders


def _check_each_is_there(count: int) -> None:
    """Refuse a figure that was reached by writing less."""
    orders, messages = Order.objects.count(), OutboxMessage.objects.count()
    if (orders, messages) != (2 * count, count):
        raise RuntimeError(f"Expected {2 * count} orders and {count} messages, got {orders} and {messages}.")
