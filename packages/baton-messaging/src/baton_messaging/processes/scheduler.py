"""Celery's scheduler writes the heartbeat of beat: it says after each tick that it has ticked.

While the broker is away beat does nothing but connect; it lives, and does not consume.
"""

import sys
from pathlib import Path
from typing import Any

import celery.beat
from celery.beat import PersistentScheduler
from celery.utils.log import get_logger

from baton_messaging.processes.rounds import RoundHeartbeat

logger = get_logger(__name__)


class Beating(celery.beat.Scheduler):
    """Any scheduler of Celery's, that says that it ticks; CELERY_BEAT_MAX_LOOP_INTERVAL is its longest sleep."""

    def __init__(self, *args: Any, lazy: bool = False, **kwargs: Any) -> None:
        self._heartbeat = RoundHeartbeat("beat")
        super().__init__(*args, lazy=lazy, **kwargs)  # type: ignore[misc]
        if not lazy:
            self._heartbeat.start()

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send one task that is due; return the seconds until the next."""
        seconds = float(super().tick(*args, **kwargs))
        self._heartbeat.round(1)
        return seconds

    def close(self) -> None:
        """Write the schedule down, and say that beat ends."""
        super().close()
        error = sys.exc_info()[1]
        is_told_to = error is None or isinstance(error, SystemExit | KeyboardInterrupt)
        self._heartbeat.stop("stopped by a signal" if is_told_to else f"ended by an error: {type(error).__name__}")

    def _ensure_connected(self) -> Any:
        def complain(error: BaseException, interval: float) -> None:
            logger.error("beat: Connection error: %s. Trying again in %s seconds...", error, interval)

        max_retries = self.app.conf.broker_connection_max_retries
        return self.connection.ensure_connection(complain, max_retries, callback=self._heartbeat.trouble)


class Scheduler(Beating, PersistentScheduler):
    """Sends what is due by the settings, and beats."""

    schedule_filename: str  # not in the stubs

    def setup_schedule(self) -> None:
        """Open the file of the schedule, in a folder that a new machine does not have yet."""
        Path(self.schedule_filename).parent.mkdir(parents=True, exist_ok=True)
        super().setup_schedule()
