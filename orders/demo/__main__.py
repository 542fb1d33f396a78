"""Bring the stack up, place orders, kill a worker, wait, audit, print; exit 0 only if all is done exactly once.

python -m orders.demo [--orders N]
"""

import argparse
import os
import subprocess
import sys

from baton_dev.environment import complete_environment
from baton_dev.project import PROJECT_DIR
from baton_dev.servers.ports import free_port


def main() -> int:
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description="Orders, a killed worker, and nothing lost.")
    parser.add_argument("--orders", type=int, default=30, help="how many orders to place (default: 30)")
    order_count = parser.parse_args().orders
    _prepare_environment()
    from orders.demo.scenario import run  # noqa: PLC0415 - reads the environment, which is complete only now

    return run(order_count)


def _prepare_environment() -> None:
    """Use ports and a state directory of our own, emptied: a `make run` beside it is left alone."""
    state_dir = os.environ.setdefault("BATON_STATE_DIR", "var/demo")
    for name in ("WEB_PORT", "FLOWER_PORT"):
        os.environ.setdefault(name, str(free_port(seed=f"{PROJECT_DIR / state_dir}:{name}")))
    complete_environment()
    subprocess.run([sys.executable, "-m", "baton_dev.run", "reset"], cwd=PROJECT_DIR, check=True)


if __name__ == "__main__":
    sys.exit(main())
