"""The web server, for real: it drains on SIGTERM, and writes nothing personal."""

import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import Process, alone, wait_until

COMMAND = (sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "--access-logfile", "-")
SLOW_SECONDS = 1.0


def application(environ: dict[str, str], start_response: object) -> list[bytes]:
    """Answer slowly to `/slow`."""
    if environ["PATH_INFO"] == "/slow":
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        threading.Event().wait(SLOW_SECONDS)
    start_response("200 OK", [("Content-Type", "text/plain")])  # type: ignore[operator]
    return [b"done"]


@pytest.fixture
def port(tmp_path: Path) -> int:
    return free_port(seed=str(tmp_path))


@pytest.fixture
def server(port: int, tmp_path: Path) -> Iterator[Process]:
    process = Process(
        [*COMMAND, "tests.config.test_gunicorn:application"],
        log=tmp_path / "gunicorn.log",
        env={"WEB_PORT": str(port), "WEB_PROCESSES": "1"},
        start=alone,
    )
    try:
        wait_until(lambda: process.exit_code is not None or get(port, "/") == b"done", seconds=60, what="the server")
        yield process
    finally:
        process.stop()


def get(port: int, path: str) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"User-Agent": "Jane's browser", "Referer": "/customers/jane"})
        return connection.getresponse().read()
    except ConnectionError:
        return b""
    finally:
        connection.close()


def test_the_access_log_holds_nothing_personal(server: Process, port: int) -> None:
    get(port, "/orders?email=jane@example.com")

    server.wait_for_output("GET /orders 200")
    assert "jane" not in server.output().lower()
    assert "127.0.0.1" not in server.output()


def test_a_running_request_is_finished_after_sigterm(server: Process, port: int) -> None:
    answers: list[bytes] = []
    request = threading.Thread(target=lambda: answers.append(get(port, "/slow")))
    request.start()
    server.wait_for_output("begun")

    assert server.stop() == 0

    request.join(timeout=30)
    assert answers == [b"done"]


def test_a_path_with_control_characters_stays_one_line(server: Process, port: int) -> None:
    get(port, "/x%0dtimestamp=now%1b]0;event=FORGED%e2%80%a8")

    server.wait_for_output("FORGED")
    written = server.output()
    assert all(line.isprintable() for line in written.split("\n"))
