"""Flower, for real: closed without the password, open for the health check, and silent about what messages hold."""

import base64
import os
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from celery.events.state import Task

from config.ports import free_port
from tests.processes import Process, wait_until

LOGIN = "operator:a-password-of-some-length"
COMMAND = (sys.executable, "-m", "celery", "--quiet", "-A", "config", "flower", "--conf=config/flower.py")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("flower")
    port = free_port(seed=str(folder))
    variables = {"FLOWER_PORT": str(port), "FLOWER_BASIC_AUTH": LOGIN, "DJANGO_DEBUG": "0"}
    process = Process(COMMAND, log=folder / "flower.log", env=variables)
    try:
        wait_until(lambda: process.exit_code is not None or status(port, "/healthcheck"), seconds=60, what="Flower")
        yield port
    finally:
        process.stop()


def status(port: int, path: str, *, login: str = "") -> int:
    headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks"])
def test_pages_and_api_need_the_password(port: int, path: str) -> None:
    assert status(port, path) == 401
    assert status(port, path, login="operator:wrong") == 401
    assert status(port, path, login=LOGIN) == 200


def test_the_health_check_needs_no_password(port: int) -> None:
    assert status(port, "/healthcheck") == 200


def test_a_task_is_shown_without_what_it_was_given_and_gave_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(os.environ, "FLOWER_PORT", str(free_port(seed=str(tmp_path))))
    from config.flower import format_task

    task = Task(
        "id", name="orders.record_sale", args="('Jane Doe',)", kwargs="{'to': 'jane@example.com'}", result="Jane"
    )

    shown = format_task(task)

    assert (shown.args, shown.kwargs, shown.result) == ("(hidden)",) * 3


def test_memory_is_bounded() -> None:
    from config import flower

    assert flower.max_tasks <= 10_000
    assert not flower.persistent
