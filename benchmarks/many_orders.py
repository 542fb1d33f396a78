"""Fill the shop with orders by the million: names, notes and items as shops have them, some of them nasty."""

from django.db import connection

_ID = "(lpad(to_hex(1750000000000 + n), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid"
_PRODUCTS = """
INSERT INTO orders_product (sku, name, name_ja, price, currency, is_active)
SELECT 'MANY-' || lpad(n::text, 3, '0'), 'Product ' || n, '', 9.90, 'EUR', true FROM generate_series(0, 99) AS n
ON CONFLICT DO NOTHING
"""
_ORDERS = f"""
INSERT INTO orders_order (id, customer_name, customer_email, language, note, currency, total, status, needs_attention,
    placed_at, settled_at, request_fingerprint)
SELECT {_ID},
    CASE WHEN n %% 11 = 0 THEN '山田 太郎 ' || n WHEN n %% 97 = 0 THEN '=HYPERLINK("x")' ELSE 'Ann Example ' || n END,
    'ann' || n || '@example.com', CASE WHEN n %% 11 = 0 THEN 'ja' ELSE 'en' END,
    CASE WHEN n %% 5 = 0 THEN 'Please ring twice, "loud" & clear' ELSE '' END, 'EUR', n %% 1000 + 0.25,
    CASE WHEN n %% 3 = 0 THEN 'rejected' ELSE 'confirmed' END, false,
    timestamptz '2025-01-01' + n * interval '17 seconds', timestamptz '2025-01-01' + n * interval '18 seconds',
    repeat('0', 64)
FROM generate_series(1, %s) AS n
"""
_LINES = f"""
INSERT INTO orders_orderline (order_id, product_id, quantity, unit_price)
SELECT {_ID}, 'MANY-' || lpad(((n * 7 + k * 31) %% 100)::text, 3, '0'), k, 9.90
FROM generate_series(1, %s) AS n, generate_series(1, 2) AS k WHERE k = 1 OR n %% 2 = 0
"""


def place_many_orders(count: int) -> None:
    """Replace all orders by this many, each with one or two lines, without asking the foreign keys a million times."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE orders_order CASCADE")
        cursor.execute(_PRODUCTS)
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(_ORDERS, [count])
        cursor.execute(_LINES, [count])
        cursor.execute("RESET session_replication_role")
        cursor.execute("VACUUM ANALYZE orders_order, orders_orderline")
