"""The consumers in real processes: relay and worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.testing.processes import running, wait_until, worker_command
from baton_messaging.publish import publish
from baton_messaging.testing import DeathReason, dead_letters
from django.db import transaction

from inventory.models import Reservation
from tests.inventory.factories import cancelled, placed, reserved, stock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "_inventory_worker")]


@pytest.fixture
def _inventory_worker(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """Run a worker for this app only: the orders of these tests are known to no other."""
    with running(worker_command("inventory"), log=tmp_path / "worker.log", ready=" ready."):
        yield


def test_one_bad_order_does_not_take_its_bundle_with_it() -> None:
    stock(A=100)
    bad, good = placed(0), [placed(2) for _ in range(30)]
    with transaction.atomic():
        publish(*good[:15], bad, *good[15:])
    wait_until(lambda: reserved("A") == 60, what="thirty reservations")
    wait_until(lambda: bool(dead_letters(consumer="inventory.reserve_stock")), what="a dead letter")
    (letter,) = dead_letters(consumer="inventory.reserve_stock")
    assert (letter.key, letter.reason) == (str(bad.order_id), DeathReason.PERMANENT_ERROR)
    assert not Reservation.objects.filter(pk=bad.order_id).exists()


def test_cancelled_orders_hold_no_stock_in_whichever_order_their_messages_come() -> None:
    stock(A=100)
    orders = [placed(1) for _ in range(20)]
    with transaction.atomic():
        for number, order in enumerate(orders):
            pair = [order, cancelled(order.order_id)]
            publish(*(pair if number % 2 else reversed(pair)))
    wait_until(lambda: Reservation.objects.filter(state="released").count() == 20, what="twenty releases")
    assert reserved("A") == 0
