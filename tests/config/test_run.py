"""What `make run` refuses, in one line: taken ports, servers that do not answer."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.servers.ports import free_port

from tests.config.test_env import GUNICORN, RUN, assert_one_line, run

SERVERS = {name: os.environ[name] for name in ("DATABASE_URL", "CELERY_BROKER_URL")}


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent_port(tmp_path: Path) -> int:
    return free_port(seed=str(tmp_path))


@pytest.mark.parametrize("variable", ["WEB_PORT", "FLOWER_PORT", "POSTGRES_PORT", "VALKEY_PORT"])
def test_a_taken_port_is_refused_by_the_name_of_its_variable(variable: str, taken_port: int, state_dir: Path) -> None:
    result = run(RUN, BATON_STATE_DIR=state_dir, **{**_free_ports(state_dir), variable: taken_port})

    assert_one_line(result, variable=variable)
    assert str(taken_port) in result.stderr


def test_gunicorn_refuses_a_taken_port_too(taken_port: int) -> None:
    assert_one_line(run(GUNICORN, WEB_PORT=taken_port), variable="WEB_PORT")


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("DATABASE_URL", "postgres://baton:hunter2@127.0.0.1:{port}/baton"),
        ("CELERY_BROKER_URL", "redis://:hunter2@127.0.0.1:{port}/0"),
        ("CELERY_BROKER_URL", "amqp://baton:hunter2@127.0.0.1:{port}//"),
        ("CELERY_BROKER_URL", "sentinel://:hunter2@127.0.0.1:{port}"),
    ],
)
def test_a_server_that_does_not_answer_is_refused_by_the_name_of_its_variable(
    variable: str, url: str, silent_port: int, tmp_path: Path
) -> None:
    urls = {**SERVERS, variable: url.format(port=silent_port)}

    result = run(RUN, BATON_STATE_DIR=tmp_path, **{**_free_ports(tmp_path), **urls})

    assert_one_line(result, variable=variable)


def test_a_wrong_password_is_refused_without_being_shown(tmp_path: Path) -> None:
    head, _, tail = SERVERS["DATABASE_URL"].partition("@")
    url = f"{head.rpartition(':')[0]}:hunter2@{tail}"

    result = run(RUN, BATON_STATE_DIR=tmp_path, **{**_free_ports(tmp_path), **SERVERS, "DATABASE_URL": url})

    assert_one_line(result, variable="DATABASE_URL")


def test_flower_refuses_to_run_without_a_password_when_debug_is_off() -> None:
    flower = (sys.executable, "-m", "celery", "-A", "config", "flower", "--conf=config/flower.py")

    assert_one_line(run(flower, **SERVERS), variable="FLOWER_BASIC_AUTH")


def _free_ports(tmp_path: Path) -> dict[str, object]:
    return {name: free_port(seed=f"{tmp_path}{name}") for name in ("WEB_PORT", "FLOWER_PORT")}
