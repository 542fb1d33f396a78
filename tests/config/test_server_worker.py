"""Slow clients take no thread of the web server: it answers others meanwhile, and closes what never arrives."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import pytest
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import Process, alone, wait_until

from config.web.server_worker import MAX_BODY_BYTES
from tests.config.test_gunicorn import COMMAND

# One process with one thread, and a second to arrive in instead of twenty.
HURRIED = """
from config.web import server_worker
server_worker.ARRIVAL_SECONDS = server_worker.PIECE_SECONDS = 1.0
from config.gunicorn import *
"""


def application(environ: dict[str, object], start_response: object) -> list[bytes]:
    """Answer the length of the body, or with a large one."""
    answers = {"/large": b"x" * 50_000_000, "/unread": b"unread"}
    path = str(environ["PATH_INFO"])
    body = answers[path] if path in answers else str(len(environ["wsgi.input"].read())).encode()  # type: ignore[attr-defined]
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])  # type: ignore[operator]
    return [body]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    port, settings = free_port(seed=str(tmp_path)), tmp_path / "hurried.py"
    settings.write_text(HURRIED)
    command = [*COMMAND[:4], str(settings), "tests.config.test_server_worker:application"]
    variables = {"WEB_PORT": str(port), "WEB_PROCESSES": "1", "WEB_THREADS": "1"}
    process = Process(command, log=tmp_path / "gunicorn.log", env=variables, start=alone)
    try:
        wait_until(lambda: process.exit_code is not None or is_answered(port), seconds=60, what="the server")
        yield port
    finally:
        process.stop()


def is_answered(port: int) -> bool:
    try:
        return ask(port, "GET", "/") == b"0"
    except OSError:
        return False


def ask(port: int, method: str, path: str, body: bytes = b"") -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=15)
    try:
        connection.request(method, path, body=body or None)
        return connection.getresponse().read()
    finally:
        connection.close()


def answer(connection: socket.socket, end: bytes) -> bytes:
    """Return what comes until it ends so."""
    received = b""
    while not received.endswith(end):
        piece = connection.recv(65536)
        assert piece, received
        received += piece
    return received


def opened(port: int, begun: bytes, stack: ExitStack) -> socket.socket:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=15))
    connection.sendall(begun)
    return connection


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTT",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nhalf",
    ],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
def test_forty_half_requests_keep_nobody_waiting_and_are_closed(port: int, begun: bytes) -> None:
    with ExitStack() as stack:
        slow = [opened(port, begun, stack) for _ in range(40)]
        assert ask(port, "GET", "/") == b"0"
        assert ask(port, "POST", "/", b"whole") == b"5"
        for connection in slow:
            assert connection.recv(1) == b""


def test_a_download_that_nobody_fetches_frees_its_thread(port: int) -> None:
    with ExitStack() as stack:
        opened(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", stack)
        assert ask(port, "GET", "/") == b"0"


def test_a_request_in_pieces_arrives_whole(port: int) -> None:
    with ExitStack() as stack:
        connection = opened(port, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Le", stack)
        for piece in (b"ngth: 6\r\n\r", b"\nabc", b"def"):
            assert ask(port, "GET", "/") == b"0"
            connection.sendall(piece)
        assert answer(connection, b"\r\n\r\n6")


def test_two_requests_at_once_on_one_connection_get_two_answers(port: int) -> None:
    with ExitStack() as stack:
        one = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        connection = opened(port, one + one[:20], stack)
        assert answer(connection, b"\r\n\r\n3")
        assert ask(port, "GET", "/") == b"0"
        connection.sendall(one[20:])
        assert answer(connection, b"\r\n\r\n3")


def test_a_connection_serves_many_requests(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=15)
    for size in (0, 1, 100_000, 0, 1_000_000):
        connection.request("POST", "/", body=b"x" * size)
        assert connection.getresponse().read() == str(size).encode()
    connection.close()


@pytest.mark.parametrize("head", [f"Content-Length: {MAX_BODY_BYTES * 2}", "Transfer-Encoding: chunked"])
def test_what_the_application_refuses_by_its_head_is_not_collected(port: int, head: str) -> None:
    with ExitStack() as stack:
        connection = opened(port, f"POST /unread HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode(), stack)
        assert answer(connection, b"unread")
        assert ask(port, "GET", "/") == b"0"


def test_a_client_that_sends_too_much_reads_why(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=15)
    connection.request("POST", "/unread", body=b"x" * 10_000_000)
    assert connection.getresponse().read() == b"unread"
    connection.close()


def test_a_head_without_an_end_is_refused(port: int) -> None:
    with ExitStack() as stack:
        connection = opened(port, b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * 65_520, stack)
        connection.sendall(b"a" * 100)
        assert b"431" in connection.recv(65536).split(b"\r\n")[0]
