"""Many transactions at a time on a real server: what must hold when they meet on the same rows."""

import random
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue

import pytest
from baton_messaging.testing import published
from django.db import connection, transaction

from inventory import services
from inventory.events import StockRejected, StockReserved
from inventory.models import Reservation, ReservationLine
from tests.inventory.factories import demand, reserved, stock, wait_until_blocked

pytestmark = pytest.mark.django_db(transaction=True)

State = Reservation.State
CLIENTS = 20


def at_once(calls: Iterable[Callable[[], object]], *, threads: int = CLIENTS) -> None:
    """Run the calls in threads with one connection each; raise the first error of any."""
    waiting = SimpleQueue[Callable[[], object]]()
    for call in calls:
        waiting.put(call)

    def work() -> None:
        try:
            while True:
                waiting.get_nowait()()
        except Empty:
            pass
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work) for _ in range(threads)]:
            future.result(timeout=60)


def count(state: State) -> int:
    return Reservation.objects.filter(state=state).count()


@pytest.mark.parametrize("bundle_size", [1, 7, 50])
def test_a_thousand_orders_for_a_hundred_pieces_reserve_exactly_a_hundred(bundle_size: int) -> None:
    stock(A=100)
    orders = [demand(A=1) for _ in range(1000)]
    bundles = [orders[start : start + bundle_size] for start in range(0, len(orders), bundle_size)]
    at_once(partial(services.reserve, bundle) for bundle in bundles)
    assert (count(State.RESERVED), count(State.REJECTED)) == (100, 900)
    assert reserved("A") == 100
    assert (len(published(StockReserved)), len(published(StockRejected))) == (100, 900)


def test_twenty_orders_for_the_last_piece_reserve_it_once() -> None:
    stock(A=1)
    at_once([lambda: services.reserve([demand(A=1)]) for _ in range(20)])
    assert (count(State.RESERVED), reserved("A")) == (1, 1)


def test_the_same_order_reserved_twenty_times_at_once_counts_once() -> None:
    stock(A=100)
    order = demand(A=3)
    at_once([lambda: services.reserve([order]) for _ in range(20)])
    assert reserved("A") == 3
    assert len(published()) == 1


def test_fifty_pairs_of_opposite_orders_do_not_deadlock() -> None:
    stock(A=1000, B=1000)
    orders = [demand("A", "B") if number % 2 else demand("B", "A") for number in range(50)]
    at_once((partial(services.reserve, [order]) for order in orders), threads=50)
    assert count(State.RESERVED) == 50
    assert (reserved("A"), reserved("B")) == (50, 50)


def test_reservations_and_releases_in_any_mixture_do_not_deadlock_and_lose_no_piece() -> None:
    skus = [f"SKU{number}" for number in range(6)]
    stock(**dict.fromkeys(skus, 40))
    chance = random.Random(7)
    orders = [demand(*chance.sample(skus, 3)) for _ in range(300)]
    cancelled = [order.order_id for order in chance.sample(orders, 150)]
    calls: list[Callable[[], object]] = []
    for start in range(0, 300, 10):
        calls.append(partial(services.reserve, chance.sample(orders[start : start + 10], 10)))
    for start in range(0, 150, 10):
        calls.append(partial(services.release, chance.sample(cancelled[start : start + 10], 10)))
    chance.shuffle(calls)
    at_once(calls)
    assert not Reservation.objects.filter(pk__in=cancelled, state=State.RESERVED).exists()
    for sku in skus:
        lines = ReservationLine.objects.filter(item=sku, reservation__state=State.RESERVED)
        assert reserved(sku) == sum(lines.values_list("quantity", flat=True)) <= 40


def test_twenty_releases_at_once_give_back_once() -> None:
    stock(A=100)
    order, other = demand(A=3), demand(A=5)
    services.reserve([order, other])
    at_once([lambda: services.release({order.order_id}) for _ in range(20)])
    assert reserved("A") == 5


def test_a_cancel_and_its_reservation_at_once_end_with_no_stock_held() -> None:
    stock(A=1000)
    orders = [demand(A=2) for _ in range(100)]
    calls: list[Callable[[], object]] = []
    for order in orders:
        pair = [partial(services.reserve, [order]), partial(services.release, {order.order_id})]
        random.shuffle(pair)
        calls.extend(pair)
    at_once(calls)
    assert (count(State.RELEASED), reserved("A")) == (100, 0)


def test_a_cancel_waits_for_a_reservation_that_is_about_to_commit() -> None:
    stock(A=5)
    order = demand(A=2)
    with transaction.atomic():
        services.reserve([order])
        cancel = _in_background(lambda: services.release({order.order_id}))
        wait_until_blocked(cancel)
    cancel.join(timeout=30)
    assert (Reservation.objects.get().state, reserved("A")) == (State.RELEASED, 0)


def test_a_reservation_waits_for_a_cancel_that_is_about_to_commit() -> None:
    stock(A=5)
    order = demand(A=2)
    with transaction.atomic():
        services.release({order.order_id})
        reservation = _in_background(lambda: services.reserve([order]))
        wait_until_blocked(reservation)
    reservation.join(timeout=30)
    assert (Reservation.objects.get().state, reserved("A")) == (State.RELEASED, 0)
    assert published() == []


def test_a_cancel_whose_reservation_is_rolled_back_still_stops_the_next_attempt() -> None:
    stock(A=5)
    order = demand(A=2)
    cancel: threading.Thread | None = None
    with transaction.atomic():
        services.reserve([order])
        cancel = _in_background(lambda: services.release({order.order_id}))
        wait_until_blocked(cancel)
        transaction.set_rollback(True)
    cancel.join(timeout=30)
    services.reserve([order])
    assert (Reservation.objects.get().state, reserved("A")) == (State.RELEASED, 0)


def _in_background(call: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            call()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread
