"""Bring the stack up, place orders, kill a worker, wait, audit, print; exit 0 only if all is done exactly once.

python -m config.demo [--orders N]
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from config.demo.audit import audit
from config.demo.shop import Shop
from config.demo.stack import DemoStack
from config.demo.table import print_report
from config.local_environment import complete_environment
from config.ports import free_port
from config.service import PROJECT_DIR

SETTLE_SECONDS = 120  # a killed worker's messages are back after 35 s at most; the rest is for a slow machine


def main() -> int:
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--orders", type=int, default=30, help="how many orders to place (default: 30)")
    order_count = parser.parse_args().orders
    _prepare_environment()
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


def _prepare_environment() -> None:
    """Use ports and a state directory of our own: a `make run` beside it is left alone."""
    state_dir = os.environ.setdefault("BATON_STATE_DIR", "var/demo")
    for name in ("WEB_PORT", "FLOWER_PORT"):
        os.environ.setdefault(name, str(free_port(seed=f"{PROJECT_DIR / state_dir}:{name}")))
    complete_environment()


if __name__ == "__main__":
    sys.exit(main())
