"""The web server's worker gives a request a thread when all of it has arrived, so slow clients hold none.

gunicorn's own thread worker reads heads and bodies in the thread that will answer, without a time limit: twelve
connections that send half a request stop a site of twelve threads, /healthz included (F95). Here the worker's main loop
collects what arrives, of all connections at once, and hands on a request that is whole. One that is not within
``ARRIVAL_SECONDS`` is closed. A body larger than any that the application takes is handed on by its head: the
application refuses it unread (413). Sending to a client has a limit for each piece. At its end a connection is read in
the loop, too, until the client has closed its side, so that one which is still sending gets to read the answer;
gunicorn waits for that in the main loop, which stands still meanwhile.

Hazard: it builds on the inner workings of gunicorn 27 (``enqueue_req``, ``murder_pending``, ``unread``); the tests of
this module, on a real server, say whether a later one still has them. Compared with what else there is:
docs/decisions/the-web-server-reads-before-it-thinks.md.
"""

import re
import selectors
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from gunicorn.workers.gthread import TConn, ThreadWorker

ARRIVAL_SECONDS: Final = 20.0  # for all of a request, from its first byte on
PIECE_SECONDS: Final = 20.0  # for each piece that is sent: 256 kB of a download, so 13 kB/s are enough
MAX_HEAD_BYTES: Final = 64 * 1024  # browsers and proxies send 8 to 16 kB at most
MAX_BODY_BYTES: Final = 1024 * 1024 + 64 * 1024  # what config/settings/security.py lets in, and a bit
FAREWELL_SECONDS: Final = 2.0  # for a client to send on, or to close its side
MAX_DISCARDED_BYTES: Final = 32 * 1024 * 1024  # whoever sends more than this has earned the reset
_RECEIVE_BYTES: Final = 64 * 1024
_END_OF_HEAD: Final = b"\r\n\r\n"
_TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)


@dataclass
class Farewell:
    """A connection that we have ended, until the client has: what it still sends is thrown away."""

    connection: TConn
    last_deadline: float
    deadline: float
    discarded: int = 0


@dataclass
class Arrival:
    """What has arrived of one request, and until when the rest has to."""

    connection: TConn
    deadline: float
    received: bytearray = field(default_factory=bytearray)

    @property
    def is_whole(self) -> bool:
        """Tell whether a thread can work on it without waiting for the client."""
        end = self.received.find(_END_OF_HEAD)
        if end < 0:
            return False
        announced = _LENGTH.search(self.received, 0, end + 2)
        length = int(announced[1]) if announced else 0  # a body in chunks is refused unread (411)
        return length > MAX_BODY_BYTES or len(self.received) >= end + len(_END_OF_HEAD) + length

    @property
    def is_endless(self) -> bool:
        """Tell whether the head is longer than any."""
        return len(self.received) > MAX_HEAD_BYTES and self.received.find(_END_OF_HEAD, 0, MAX_HEAD_BYTES) < 0


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's thread worker, behind a main loop that collects the requests."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arrivals: dict[int, Arrival] = {}
        self._farewells: dict[int, Farewell] = {}

    def enqueue_req(self, conn: TConn) -> None:
        """Collect the next request of a connection; gunicorn would give it a thread at once."""
        conn.close = partial(self._part, conn)
        held = conn.parser.unreader.take_buffered() if conn.parser else b""
        arrival = Arrival(conn, time.monotonic() + ARRIVAL_SECONDS, bytearray(held))
        conn.sock.setblocking(False)
        if arrival.is_whole:
            self._hand_on(arrival)
            return
        self._arrivals[conn.sock.fileno()] = arrival
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, arrival))

    def murder_pending(self) -> None:
        """Close what did not arrive in time. gunicorn calls it once a second."""
        super().murder_pending()
        now = time.monotonic()
        for arrival in [late for late in self._arrivals.values() if late.deadline < now]:
            self._forget(arrival)
            self._close(arrival.connection)
        for farewell in [late for late in self._farewells.values() if late.deadline < now]:
            self._end(farewell)

    def _receive(self, arrival: Arrival, _socket: Any) -> None:
        try:
            received = arrival.connection.sock.recv(_RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            received = b""
        if not received:
            self._forget(arrival)
            self._close(arrival.connection)
            return
        arrival.received += received
        if arrival.is_endless:
            self._forget(arrival)
            with suppress(OSError):
                arrival.connection.sock.send(_TOO_LONG)
            self._close(arrival.connection)
        elif arrival.is_whole:
            self._forget(arrival)
            self._hand_on(arrival)

    def _hand_on(self, arrival: Arrival) -> None:
        connection = arrival.connection
        connection.data_ready = True
        connection.init()
        connection.parser.unreader.unread(bytes(arrival.received))
        super().enqueue_req(connection)

    def _forget(self, arrival: Arrival) -> None:
        self._arrivals.pop(arrival.connection.sock.fileno(), None)
        self.poller.unregister(arrival.connection.sock)

    def _close(self, connection: TConn) -> None:
        self.nr_conns -= 1
        connection.close()

    def _part(self, connection: TConn, graceful: bool = False) -> None:
        """End a connection; in place of gunicorn's own ``close``, which waits in the main loop."""
        try:
            if not graceful:
                raise ConnectionError
            connection.sock.shutdown(socket.SHUT_WR)
            connection.sock.setblocking(False)
        except OSError:
            TConn.close(connection)
            return
        now = time.monotonic()
        farewell = Farewell(connection, last_deadline=now + ARRIVAL_SECONDS, deadline=now + FAREWELL_SECONDS)
        self.nr_conns += 1  # it still counts as one
        self._farewells[connection.sock.fileno()] = farewell
        self.poller.register(connection.sock, selectors.EVENT_READ, partial(self._discard, farewell))

    def _discard(self, farewell: Farewell, _socket: Any) -> None:
        try:
            size = len(farewell.connection.sock.recv(_RECEIVE_BYTES))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size = 0
        farewell.discarded += size
        farewell.deadline = min(farewell.last_deadline, time.monotonic() + FAREWELL_SECONDS)
        if not size or farewell.discarded > MAX_DISCARDED_BYTES:
            self._end(farewell)

    def _end(self, farewell: Farewell) -> None:
        del self._farewells[farewell.connection.sock.fileno()]
        self.poller.unregister(farewell.connection.sock)
        self.nr_conns -= 1
        TConn.close(farewell.connection)


def limit_pieces(_worker: Any, request: Any) -> None:
    """Give each piece that is read or sent from here on its time. gunicorn's hook ``pre_request``, in the thread.

    A connection whose body was not collected ends with the answer: the thread would wait for what is left of it.
    """
    request.unreader.sock.settimeout(PIECE_SECONDS)
    lengths = [int(value) for name, value in request.headers if name == "CONTENT-LENGTH" and value.isdecimal()]
    if any(length > MAX_BODY_BYTES for length in lengths) or any(
        name == "TRANSFER-ENCODING" for name, _ in request.headers
    ):
        request.force_close()
