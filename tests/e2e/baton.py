"""The whole of Baton as `make run` starts it, and its customers."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from baton_dev.servers.embedded import Postgres
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import Process, alone, wait_until

from tests.e2e.clone import clone_to

START_SECONDS = 180  # longer than the run itself waits for its programs
FINAL = ("confirmed", "rejected", "cancelled")


class Customers:
    """The API as its customers' programs see it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def call(self, path: str, body: Any = None, *, seconds: float = 30) -> tuple[int, Any]:
        """Return status and JSON."""
        request = Request(f"{self.address}{path}", None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        try:
            with urlopen(request, timeout=seconds) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            return error.code, error.read().decode()

    def place(self, *, sku: str = "TEA-SENCHA", quantity: int = 1) -> str:
        """Place an order; return its id."""
        body = {
            "customer_name": "Ann Example",
            "customer_email": "ann@example.com",
            "lines": [{"sku": sku, "quantity": quantity}],
        }
        status, answer = self.call("/api/orders", body)
        assert status == 202, answer
        return str(answer["order_id"])

    def place_many(self, count: int, *, sku: str = "TEA-SENCHA", clients: int = 4) -> list[str]:
        """Place orders from several clients at once; return the ids of those that were accepted."""

        def place(_number: int) -> str | None:
            try:
                return self.place(sku=sku)
            except (URLError, OSError):
                return None  # not accepted, so not promised

        with ThreadPoolExecutor(clients) as pool:
            return [order_id for order_id in pool.map(place, range(count)) if order_id]

    def order(self, order_id: str) -> dict[str, Any]:
        status, order = self.call(f"/api/orders/{order_id}")
        assert status == 200, order
        return dict(order)

    def is_settled(self, order_id: str) -> bool:
        order = self.order(order_id)
        return order["status"] in FINAL and all(row["state"] in ("done", "dead") for row in order["consumers"])

    def wait_until_settled(self, order_ids: list[str], *, seconds: float = 90) -> list[dict[str, Any]]:
        """Wait for all of them; return them."""
        left = list(order_ids)

        def all_settled() -> bool:
            while left and self.is_settled(left[-1]):
                left.pop()
            return not left

        wait_until(all_settled, seconds=seconds, what=f"all of {len(order_ids)} orders settled")
        return [self.order(order_id) for order_id in order_ids]


class Baton(Customers):
    """README's first command in a fresh clone, with an empty environment, but for ports of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        clone_to(directory)
        self.web_port, self.flower_port = (free_port(seed=f"{directory}:{name}") for name in ("web", "flower"))
        super().__init__(f"http://127.0.0.1:{self.web_port}")
        command = [*self._as_a_stranger(), "make", "-C", str(directory), "run"]
        self._process = Process(command, log=directory.with_suffix(".log"), start=alone)

    @property
    def state_dir(self) -> Path:
        return self.directory / "var"

    def wait_until_up(self) -> None:
        self._process.wait_for_output("Baton is running.", seconds=START_SECONDS)
        self._process.wait_for_output("Kill a worker now")

    def output(self) -> str:
        return self._process.output()

    def pid_of(self, name: str) -> int:
        """Return the process that runs under a name of the Procfile, as the last line about it says."""
        return int(re.findall(rf"^{re.escape(name)} +\| started \(pid (\d+)\)", self.output(), re.MULTILINE)[-1])

    def kill(self, name: str) -> None:
        """Kill -9; a process that is dead and not back yet is dead enough."""
        with suppress(ProcessLookupError):
            os.kill(self.pid_of(name), signal.SIGKILL)

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run manage.py beside it."""
        command = [*self._as_a_stranger(), ".venv/bin/python", "-m", "baton_dev.run", "manage", *words]
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, check=False)

    def press_ctrl_c(self) -> None:
        """Send what the terminal sends to make and all that it has started; wait for the end."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)
        self._process.wait(seconds=90)

    def stop(self) -> None:
        """Stop, and delete the data that root keeps elsewhere."""
        try:
            self.press_ctrl_c()
        finally:
            self._process.kill()
            Postgres(self.state_dir).destroy()

    def _as_a_stranger(self) -> list[str]:
        kept = [f"{name}={os.environ[name]}" for name in ("PATH", "HOME") if name in os.environ]
        return ["env", "-i", *kept, f"WEB_PORT={self.web_port}", f"FLOWER_PORT={self.flower_port}"]


def attempt(action: Callable[[], Any]) -> Any:
    """Return what the action returns, or None while the other side does not answer."""
    try:
        return action()
    except (URLError, OSError):
        return None
