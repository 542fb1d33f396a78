"""Each round that ends is a heartbeat of the processes that go round a loop: relay, collector, beat."""

import threading
from time import monotonic

from baton_messaging.conf import baton
from baton_messaging.processes.heartbeat import Beat, HeartbeatWriter


class RoundHeartbeat:
    """Beats once per HEARTBEAT_SECONDS at most, however fast the loop goes round."""

    def __init__(self, role: str) -> None:
        self._heartbeat = HeartbeatWriter(role)
        self._count = 0
        self._counted: float | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._heartbeat.start()

    def stop(self) -> None:
        """Delete the row."""
        self._heartbeat.stop()

    def round(self, count: int = 0) -> None:
        """Note that a round was completed, with ``count`` messages."""
        if count:
            self._count += count
            self._counted = monotonic()
        self._beat(is_consuming=True)

    def trouble(self, what: str = "") -> None:
        """Note that the loop turns, and can do nothing: the broker is away, or ``what``, one of ``Trouble``."""
        self._beat(is_consuming=False, trouble=what)

    def wait(self, stopping: threading.Event, seconds: float) -> None:
        """Back off for ``seconds``, or until stopping is set, and beat meanwhile."""
        deadline = monotonic() + seconds
        while not stopping.is_set() and (rest := deadline - monotonic()) > 0:
            self.trouble()
            stopping.wait(min(rest, baton().heartbeat_seconds))

    def _beat(self, *, is_consuming: bool, trouble: str = "") -> None:
        if not self._heartbeat.is_due:
            return
        age = None if self._counted is None else monotonic() - self._counted
        self._heartbeat.beat(
            Beat(
                is_consuming,
                trouble=trouble,
                received_count=self._count,
                finished_count=self._count,
                received_age=age,
                finished_age=age,
            )
        )
