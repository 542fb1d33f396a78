"""Facts about one process, by its heartbeat; and about a message that it has in flight."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Process:
    """A relay, collector, beat or worker, by its heartbeat."""

    name: str
    role: str
    beaten_at: datetime
    is_fresh: bool
    is_consuming: bool
    queues: tuple[str, ...] = ()
    running_count: int = 0
    last_finished_at: datetime | None = None
    finds_broker_full: bool = False
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ended_by: str = ""
    unconsumed_queues: tuple[str, ...] = ()  # of its command line, given up by remote control
    stood_still_at: datetime | None = None
    stood_still_seconds: float = 0

    def seconds_at_work(self, since: datetime, now: datetime) -> float:
        """Return for how long it has worked since then: the time in which nothing of it ran does not count."""
        seconds = (now - since).total_seconds()
        is_within = self.stood_still_at is not None and self.stood_still_at > since
        return seconds - self.stood_still_seconds if is_within else seconds

    @property
    def seen_at(self) -> datetime:
        """Return the last moment of which it is known that it lived."""
        return self.ended_at or self.beaten_at

    @property
    def is_at_work(self) -> bool:
        """Tell whether it lives and does what it is for."""
        return self.is_fresh and self.is_consuming


@dataclass(frozen=True)
class InFlight:
    """A worker's heartbeat says that it has the message, in which child; ``started_at`` None: not started yet."""

    process: Process
    started_at: datetime | None
    pid: int | None = None

    def is_of(self, application: str) -> bool:
        """Tell whether a connection of this name is the child's: ``baton worker NAME PID``, NAME cut where too long."""
        before_pid, _space, pid = application.rpartition(" ")
        _theirs, marker, name = before_pid.rpartition("baton worker ")
        return bool(marker and name) and pid == str(self.pid) and self.process.name.startswith(name)
