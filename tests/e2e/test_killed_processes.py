"""`make run`, and kill -9 of one process after another while orders are under way."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from baton_dev.servers.embedded import Postgres
from baton_dev.testing.processes import wait_until

from tests.e2e.baton import Baton, attempt

pytestmark = pytest.mark.timeout(240)


def ask(baton: Baton, statement: str, *parameters: object) -> Any:
    with psycopg.connect(Postgres(baton.state_dir).url) as connection:
        row = connection.execute(statement, parameters).fetchone()
    return row[0] if row else None


def assert_each_effect_is_there_once(baton: Baton, order_ids: list[str]) -> None:
    """Compare what the consumers wrote with the orders themselves."""
    pieces = "SELECT sum(quantity) FROM inventory_reservationline WHERE reservation_id = ANY(%s::uuid[])"
    assert ask(baton, pieces, order_ids) == len(order_ids)
    mails = "SELECT count(*) FROM notifications_maillog WHERE order_id = ANY(%s::uuid[]) AND outcome = 'sent'"
    assert ask(baton, mails, order_ids) == 2 * len(order_ids)
    sold: Decimal = ask(baton, "SELECT sum(total) FROM orders_order")
    assert ask(baton, "SELECT sum(amount) FROM orders_dailysales") == sold


def assert_all_confirmed_once(baton: Baton, order_ids: list[str]) -> None:
    orders = baton.wait_until_settled(order_ids)
    assert {order["status"] for order in orders} == {"confirmed"}
    assert not [order for order in orders if order["needs_attention"]]
    assert_each_effect_is_there_once(baton, order_ids)


def test_processes_killed_one_after_another_with_orders_under_way_lose_and_double_nothing(baton: Baton) -> None:
    """In one go: what a worker had taken comes back after half a minute, and so it is waited for once."""
    order_ids = baton.place_many(6)
    for name in ("worker-inventory", "relay", "worker-notifications", "beat"):
        baton.kill(name)
        order_ids += baton.place_many(6)
    assert_all_confirmed_once(baton, order_ids)


def test_what_the_web_process_accepted_before_it_was_killed_is_done(baton: Baton) -> None:
    order_ids = baton.place_many(6)
    baton.kill("web")
    order_ids += baton.place_many(6)
    wait_until(lambda: attempt(lambda: baton.call("/healthz")), seconds=60, what="the web process to come back")
    order_ids.append(baton.place())
    assert_all_confirmed_once(baton, order_ids)


def test_with_the_broker_down_orders_are_accepted_and_later_done(baton: Baton) -> None:
    order_ids = baton.place_many(4)
    for _ in range(3):
        baton.kill("valkey")
        order_ids += baton.place_many(4)
    assert_all_confirmed_once(baton, order_ids)


def test_a_database_killed_under_load_loses_no_accepted_order(baton: Baton) -> None:
    order_ids = baton.place_many(6)
    baton.kill("postgres")
    wait_until(lambda: attempt(lambda: baton.call("/readyz")[0] == 200), seconds=60, what="the database to come back")
    order_ids += baton.place_many(2)
    assert_all_confirmed_once(baton, order_ids)


def test_the_mails_lie_in_the_state_directory_one_file_each(baton: Baton) -> None:
    (order,) = baton.wait_until_settled([baton.place()])
    names = [path.name for path in Path(baton.state_dir / "mail").rglob("*") if order["order_id"] in path.name]
    assert len(names) == 2
