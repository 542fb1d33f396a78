"""How progress becomes a picture: pure, without a database."""

import datetime
from typing import Any

import pytest
from baton_messaging.extend import ConsumerProgress

from orders.models import Order, OrderStatus
from orders.timeline import EXPECTED_STEPS, Stage, Step, Timeline

NOW = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)


def step(state: Any = "done", *, consumer: str = "inventory.reserve_stock", **changes: Any) -> Step:
    fields = {
        "message_id": Order().pk,
        "event": "orders.order_placed",
        "attempts": 1,
        "max_attempts": 8,
        "owner": "Warehouse team <warehouse@example.com>",
        "updated_at": NOW,
    }
    return Step(ConsumerProgress(consumer=consumer, state=state, **{**fields, **changes}))


def timeline(*steps: Step, status: str = OrderStatus.CONFIRMED) -> Timeline:
    return Timeline(Order(status=status), (Stage("orders.order_placed", steps),))


@pytest.mark.parametrize(
    ("states", "status", "is_settled"),
    [
        (["done", "done"], OrderStatus.CONFIRMED, True),
        (["done", "waiting"], OrderStatus.CONFIRMED, False),
        (["done", "queued"], OrderStatus.CANCELLED, False),
        (["done", "retrying"], OrderStatus.CONFIRMED, False),
        (["done", "dead"], OrderStatus.ACCEPTED, True),
        (["done", "done"], OrderStatus.ACCEPTED, False),
        ([], OrderStatus.ACCEPTED, False),
        ([], OrderStatus.REJECTED, True),
    ],
)
def test_settled_means_that_nothing_more_comes_by_itself(states: list[str], status: str, is_settled: bool) -> None:
    assert timeline(*map(step, states), status=status).is_settled is is_settled


def test_the_bar_counts_on_the_steps_to_come_until_all_is_settled() -> None:
    under_way = timeline(step(), step("queued"), status=OrderStatus.ACCEPTED)
    assert (under_way.done_count, under_way.step_count) == (1, EXPECTED_STEPS)
    settled = timeline(step(), step("dead"), status=OrderStatus.ACCEPTED)
    assert (settled.done_count, settled.step_count) == (1, 2)


def test_the_digest_changes_with_each_change_and_only_then() -> None:
    base = timeline(step("queued"))
    assert base.digest == Timeline(base.order, base.stages).digest
    others = [
        timeline(step("done")),
        timeline(step("queued", attempts=2)),
        timeline(step("queued"), status=OrderStatus.CANCELLED),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 4


def test_a_consumer_that_is_new_here_goes_by_its_name() -> None:
    new = step(consumer="shipping.pack")
    assert (str(new.title), new.owner) == ("shipping.pack", "Warehouse team")
