"""A thousand customers for a hundred pieces, over HTTP. Last of its folder: it leaves two thousand mails to be sent."""

import time
from collections import Counter

import psycopg
import pytest
from baton_dev.servers.embedded import Postgres

from tests.e2e.baton import Baton

pytestmark = pytest.mark.timeout(300)


def test_a_thousand_orders_for_a_hundred_pieces_end_as_100_confirmed_and_900_rejected(baton: Baton) -> None:
    with psycopg.connect(Postgres(baton.state_dir).url) as connection:
        connection.execute("UPDATE inventory_stockitem SET on_hand = reserved + 100 WHERE sku = 'WHISK-BAMBOO'")
    order_ids = baton.place_many(1000, sku="WHISK-BAMBOO", clients=20)
    assert len(order_ids) == 1000
    with psycopg.connect(Postgres(baton.state_dir).url) as connection:
        statuses: Counter[str] = Counter()
        while sum(statuses[final] for final in ("confirmed", "rejected")) < 1000:
            rows = connection.execute("SELECT status FROM orders_order WHERE id = ANY(%s::uuid[])", [order_ids])
            statuses = Counter(status for (status,) in rows)
            time.sleep(0.2)
        left = connection.execute("SELECT on_hand - reserved FROM inventory_stockitem WHERE sku = 'WHISK-BAMBOO'")
        assert left.fetchone() == (0,)
    assert statuses == {"confirmed": 100, "rejected": 900}
