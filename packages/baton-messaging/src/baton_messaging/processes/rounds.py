"""Each round that ends is a heartbeat of the processes that go round a loop: relay, collector, beat.

Relay and collector have the loop itself in common, too, its end and its back-off: ``RoundProcess``.
"""

import signal
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import ClassVar, Final

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.conf import baton
from baton_messaging.database.errors import is_not_set_up, is_passing
from baton_messaging.health.condition import Condition
from baton_messaging.health.refusals import classify
from baton_messaging.processes.backoff import backoff_seconds
from baton_messaging.processes.heartbeat import Beat, HeartbeatWriter
from baton_messaging.processes.introduction import introduce

log = structlog.get_logger(__name__)

LOG_SECONDS: Final = 3.0  # between two lines about the same trouble
MIN_BACKOFF_SECONDS: Final = 0.5
MAX_BACKOFF_SECONDS: Final = 15.0  # a database or broker that is back is found at most this much later
_SERVERS: Final = {"database_in_trouble": "database", "broker_away": "broker"}  # by the event in the log


class RoundHeartbeat:
    """Beats once per HEARTBEAT_SECONDS at most, however fast the loop goes round."""

    def __init__(self, role: str) -> None:
        self._heartbeat = HeartbeatWriter(role)
        introduce(role, self._heartbeat.name)
        self._count = 0
        self._counted: float | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._heartbeat.start()

    def stop(self, ended_by: str) -> None:
        """Say that the process ends, and by what."""
        self._heartbeat.stop(ended_by)

    def round(self, count: int = 0) -> None:
        """Note that a round was completed, with ``count`` messages."""
        if count:
            self._count += count
            self._counted = monotonic()
        for server in _SERVERS.values():
            self._heartbeat.watch.is_over(server)
        self._beat(is_consuming=True)

    def trouble(self, what: str = "") -> None:
        """Note that the loop turns, and can do nothing: the broker is away, or ``what``, one of ``Trouble``."""
        self._beat(is_consuming=False, trouble=what)

    def met(self, event: str, error: Exception) -> None:
        """Note what keeps the loop from its work."""
        self._heartbeat.watch.met(_SERVERS[event], error)

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


class RoundProcess(ABC):
    """Goes round until it is told to stop, and backs off while a server is away.

    In the log, a process of the role "relay" is begun by ``relay_started`` and ended by ``relay_stopped``.
    """

    broker_errors: ClassVar[tuple[type[Exception], ...]] = BROKER_ERRORS

    def __init__(self, role: str) -> None:
        self._role = role
        self._stopping = threading.Event()
        self._stopped_by = "stopped"
        self._trouble_count = 0  # in a row
        self._told_at: dict[tuple[str, Condition], float] = {}
        self._untold_count: Counter[tuple[str, Condition]] = Counter()
        self._heartbeat = RoundHeartbeat(role)

    def run(self) -> None:
        """Work until stopped. Raises what is neither the database's trouble nor the broker's."""
        log.info(f"{self._role}_started")  # noqa: G004 - the event's name
        with self._beating():
            while not self._stopping.is_set():
                self._work_until_trouble()
        log.info(f"{self._role}_stopped")  # noqa: G004 - the event's name

    @abstractmethod
    def _work(self) -> None:
        """Connect to the broker and go round, until stopped or in trouble."""

    def _can_wait(self, error: DatabaseError) -> bool:
        """Tell whether an error of the database is one to sit out: what was forgotten in a deploy may be made good."""
        return is_passing(error) or is_not_set_up(error)

    def _work_until_trouble(self) -> None:
        try:
            self._work()
        except DatabaseError as error:
            if not self._can_wait(error):
                raise
            if is_passing(error):  # else it is well: who looks at the sessions sees as which role we work
                connection.close()
            self._back_off("database_in_trouble", error)
        except self.broker_errors as error:
            self._back_off("broker_away", error)

    def stop(self) -> None:
        """Finish what is begun, then return from run()."""
        self._stopping.set()

    @contextmanager
    def _beating(self) -> Iterator[None]:
        """Beat meanwhile; at the end, say what ended the process."""
        self._heartbeat.start()
        try:
            yield
        except BaseException as error:
            self._stopped_by = f"ended by an error: {_named(error)}"
            self._heartbeat.trouble()  # the first beat, if it could not even start: its row says why
            raise
        finally:
            self._heartbeat.stop(self._stopped_by)

    def stop_on_signals(self) -> None:
        """Let SIGTERM and SIGINT stop the process."""

        def handle(signum: int, _frame: FrameType | None) -> None:
            self._stopped_by = f"stopped by {signal.Signals(signum).name}"
            self.stop()

        signal.signal(signal.SIGTERM, handle)
        signal.signal(signal.SIGINT, handle)

    def _back_off(self, event: str, error: Exception) -> None:
        """Wait, longer with each time in a row, and beat meanwhile."""
        self._trouble_count += 1
        seconds = backoff_seconds(
            self._trouble_count,
            base=MIN_BACKOFF_SECONDS,
            maximum=MAX_BACKOFF_SECONDS,
            floor=MIN_BACKOFF_SECONDS,
            jitter=True,
        )
        self._heartbeat.met(event, error)
        self._tell(event, error, again_in_seconds=round(seconds, 1))
        self._heartbeat.wait(self._stopping, seconds)

    def _tell(self, event: str, error: Exception, *, again_in_seconds: float) -> None:
        """Log what the server said, in its own words.

        The same trouble is told once in LOG_SECONDS, for an outage must not fill a disk; another one at once.
        """
        refusal = classify(error)
        trouble = event, refusal.condition
        self._untold_count[trouble] += 1
        if monotonic() - self._told_at.get(trouble, float("-inf")) < LOG_SECONDS:
            return
        log.warning(
            event,
            condition=str(refusal.condition),
            said=refusal.said,
            error_class=type(error.__cause__ or error).__name__,
            again_in_seconds=again_in_seconds,
            time_count=self._untold_count.pop(trouble),
        )
        self._told_at[trouble] = monotonic()


def _named(error: BaseException) -> str:
    """Return the class of an error and the words of the server that has refused: no value of a row is among them."""
    refusal = classify(error)
    is_known = refusal.condition is not Condition.NOT_KNOWN
    return f"{type(error).__name__}: {refusal.said}" if is_known else type(error).__name__
