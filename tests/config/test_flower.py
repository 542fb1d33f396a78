"""Flower, for real: closed without the password, open for the health check, and silent about what messages hold."""

import base64
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import Process, alone, wait_until
from celery import current_app

LOGIN = "operator:a-password-of-some-length"
COMMAND = (sys.executable, "-m", "celery", "--quiet", "-A", "config", "flower", "--conf=config/flower.py")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("flower")
    port = free_port(seed=str(folder))
    variables = {"FLOWER_PORT": str(port), "FLOWER_BASIC_AUTH": LOGIN, "DJANGO_DEBUG": "0"}
    process = Process(COMMAND, log=folder / "flower.log", env=variables, start=alone)
    try:
        wait_until(lambda: process.exit_code is not None or status(port, "/healthcheck"), seconds=60, what="Flower")
        yield port
    finally:
        process.stop()


def get(port: int, path: str, *, login: str = "", method: str = "GET") -> tuple[int, str]:
    headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        try:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            return 0, ""


def status(port: int, path: str, *, login: str = "", method: str = "GET") -> int:
    return get(port, path, login=login, method=method)[0]


def read(port: int, path: str) -> str:
    return get(port, path, login=LOGIN)[1]


@pytest.mark.parametrize("path", ["/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks"])
def test_pages_and_api_need_the_password(port: int, path: str) -> None:
    assert status(port, path) == 401
    assert status(port, path, login="operator:wrong") == 401
    assert status(port, path, login=LOGIN) == 200


OTHERS = [
    "/metrics",
    "/static/css/flower.css",
    "/login",
    "/logout",
    "/nowhere",
    "/api/task/types",
    "/worker/x",
    "/task/x",
]


@pytest.mark.parametrize("path", OTHERS)
def test_no_other_address_answers_without_the_password(port: int, path: str) -> None:
    assert status(port, path) == 401
    assert status(port, path, login=LOGIN) != 401


def test_every_route_of_flower_is_guarded(port: int) -> None:
    from flower.urls import handlers

    routes: list[Any] = list(handlers)
    patterns = [route[0] if isinstance(route, tuple) else route.regex.pattern for route in routes]
    paths = {re.sub(r"\(\.[+*]\)|/\?|\$", "x", pattern).replace(".*", "/x") for pattern in patterns}
    for path in paths - {"/healthcheck", "/healthcheckx"}:
        for method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE"):
            assert status(port, path, method=method) == 401, (method, path)


def test_the_health_check_needs_no_password(port: int) -> None:
    assert status(port, "/healthcheck") == 200


def test_neither_page_nor_api_shows_what_a_task_was_given_or_gave_back(port: int) -> None:
    secret = "jane@example.com"
    uuid = str(uuid4())
    contents = {"args": f"('{secret}',)", "kwargs": f"{{'to': '{secret}'}}", "result": secret}
    failure = {"exception": f"MailRefused('{secret}')", "traceback": f"Traceback … {secret}"}

    def sent_and_seen() -> bool:
        events.send("task-received", uuid=uuid, name="notifications.send", **contents)
        events.send("task-failed", uuid=uuid, **failure)
        return "MailRefused" in read(port, f"/api/task/info/{uuid}")

    with current_app.connection_for_write() as broker, current_app.events.Dispatcher(broker, hostname="w@x") as events:
        wait_until(sent_and_seen, what="the event")  # what is sent before Flower listens is lost

    for path in (f"/api/task/info/{uuid}", f"/task/{uuid}", "/api/tasks", "/tasks/datatable?draw=1&start=0&length=9"):
        assert secret not in read(port, path)


def test_memory_is_bounded() -> None:
    program = "import config.flower as f; print(f.max_tasks, f.max_workers, f.persistent, f.read_only)"
    variables = {**os.environ, "FLOWER_PORT": str(free_port(seed=program))}

    shown = subprocess.run([sys.executable, "-c", program], env=variables, check=True, capture_output=True, text=True)

    assert shown.stdout.split() == ["10000", "100", "False", "True"]
