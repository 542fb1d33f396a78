"""Is everything done, and done once? Asked of the database and the mail folder, not of the API that is tested."""

import os
from collections import Counter
from decimal import Decimal
from email import message_from_bytes
from pathlib import Path
from typing import Any

import psycopg
from baton_dev.servers.selection import embedded_services, service_urls

from config.env import Environment
from orders.demo.shop import SKUS, Order, is_settled

MAILS_PER_ORDER = 2  # received, confirmed


def audit(orders: list[Order], *, placed_count: int) -> list[str]:
    """Return what is wrong, a line each; empty when every effect is there exactly once."""
    env = Environment.read()
    url = os.environ.get("DATABASE_URL") or service_urls(embedded_services(env))["DATABASE_URL"]
    ids = [order["order_id"] for order in orders]
    with psycopg.connect(url) as connection:
        return [
            *_unsettled(orders),
            *_compare("orders in the database", placed_count, _one(connection, _ORDERS, ids)),
            *_compare("pieces set aside", placed_count * len(SKUS), _one(connection, _PIECES, ids)),
            *_compare("pieces by the stock's own count", _one(connection, _RESERVED), _one(connection, _PROMISED)),
            *_compare("sales figures", _one(connection, _SOLD), _one(connection, _COUNTED)),
            *_compare("mails in the log", placed_count * MAILS_PER_ORDER, _one(connection, _MAILS, ids)),
            *_doubled_mails(env),
        ]


_ORDERS = "SELECT count(*) FROM orders_order WHERE id = ANY(%s::uuid[])"
_PIECES = "SELECT coalesce(sum(quantity), 0) FROM inventory_reservationline WHERE reservation_id = ANY(%s::uuid[])"
_RESERVED = "SELECT sum(reserved) FROM inventory_stockitem"
_PROMISED = """
    SELECT sum(quantity) FROM inventory_reservationline AS line
    JOIN inventory_reservation AS reservation ON reservation.order_id = line.reservation_id
    WHERE reservation.state = 'reserved'
"""
_SOLD = "SELECT count(*) || ' orders, ' || sum(total) FROM orders_order"
_COUNTED = "SELECT sum(order_count) || ' orders, ' || sum(amount) FROM orders_dailysales"
_MAILS = "SELECT count(*) FROM notifications_maillog WHERE order_id = ANY(%s::uuid[]) AND outcome = 'sent'"


def _one(connection: psycopg.Connection[Any], statement: str, *parameters: object) -> Any:
    row = connection.execute(statement, parameters or None).fetchone()
    value = row[0] if row else None
    return int(value) if isinstance(value, Decimal) else value


def _compare(what: str, wanted: object, found: object) -> list[str]:
    return [] if wanted == found else [f"{what}: expected {wanted}, found {found}"]


def _unsettled(orders: list[Order]) -> list[str]:
    return [
        f"order {order['order_id']}: {order['status']}, not all consumers are done"
        for order in orders
        if not is_settled(order) or order["status"] != "confirmed" or order["needs_attention"]
    ]


def _doubled_mails(env: Environment) -> list[str]:
    """A worker killed between the mail and its commit may repeat a mail; that is the promise's limit, so it is told."""
    if env.EMAIL_URL:
        return []
    files = [path for path in Path(env.BATON_STATE_DIR / "mail").rglob("*") if path.is_file()]
    counts = Counter(message_from_bytes(path.read_bytes())["Message-ID"] for path in files)
    return [f"mail {message_id}: {count} copies" for message_id, count in counts.items() if count > 1]
