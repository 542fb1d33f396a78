"""Place orders, kill a worker while they are under way, wait until all is settled, audit, report."""

import time
from concurrent.futures import ThreadPoolExecutor

from baton_dev.demo import DemoStack

from orders.demo.audit import audit
from orders.demo.shop import Shop
from orders.demo.table import print_report

SETTLE_SECONDS = 120  # a killed worker's messages are back after 35 s at most; the rest is for a slow machine


def run(order_count: int) -> int:
    """Run the demo; return the exit code."""
    print("Starting PostgreSQL, Valkey and the programs of the Procfile …", flush=True)
    with DemoStack() as stack:
        shop = Shop(stack.address)
        print(f"Placing {order_count} orders over HTTP at {stack.address} …", flush=True)
        placed = shop.place(order_count // 2)
        shop.wait_until_one_is_confirmed(placed)
        with ThreadPoolExecutor(1) as customers:
            rest = customers.submit(shop.place, order_count - len(placed))
            killed = stack.kill_worker()
            print(f"kill -9 {killed} (worker-inventory), while orders keep coming …", flush=True)
            placed += rest.result()
        started = time.monotonic()
        orders = shop.wait_until_settled(placed, seconds=SETTLE_SECONDS)
        waited = time.monotonic() - started
        findings = audit(orders, placed_count=order_count)
    print_report(orders, findings, waited_seconds=waited)
    return 1 if findings else 0
