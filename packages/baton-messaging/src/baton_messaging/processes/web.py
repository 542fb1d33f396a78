"""A web process beats, too: what it is wired to, and how many requests it has open. One row per process.

It starts with the first request, or earlier (``begin``), and anew after a fork. A request is never held up: another
thread writes. Hazard: a web process has no one loop that could prove its work, so its heartbeat proves a living process
only; whether it answers is for /readyz to tell.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

from baton_messaging.conf import baton
from baton_messaging.processes.heartbeat import Beat, HeartbeatWriter
from baton_messaging.processes.introduction import introduce

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BeatingApplication:
    """A WSGI application, and the heartbeat of the process that runs it."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._pid = 0
        self._beginning = threading.Lock()
        self._received_count = self._finished_count = 0  # by several threads: about right, and for display only
        self._received: float | None = None  # by the monotonic clock
        self._finished: float | None = None
        os.register_at_fork(after_in_child=self._forget)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        if self._pid != os.getpid():
            self.begin()
        self._received_count += 1
        self._received = monotonic()
        try:
            return self._application(environ, start_response)
        finally:
            self._finished_count += 1
            self._finished = monotonic()

    def begin(self) -> None:
        """Begin to beat, in this process. Repeating it is harmless."""
        with self._beginning:
            if self._pid == os.getpid():
                return
            self._pid = os.getpid()
            writer = HeartbeatWriter("web")
            introduce("web", writer.name)
            writer.start()
            threading.Thread(target=self._beat_for_ever, args=(writer,), name="web heartbeat", daemon=True).start()
            atexit.register(writer.stop, "stopped")

    def _beat_for_ever(self, writer: HeartbeatWriter) -> None:
        while True:
            now = monotonic()
            writer.beat(
                Beat(
                    is_consuming=True,
                    received_count=self._received_count,
                    finished_count=self._finished_count,
                    received_age=None if self._received is None else now - self._received,
                    finished_age=None if self._finished is None else now - self._finished,
                )
            )
            threading.Event().wait(baton().heartbeat_seconds)

    def _forget(self) -> None:
        """In a child nothing of it runs, and its lock may be held for ever."""
        self._pid = 0
        self._beginning = threading.Lock()
