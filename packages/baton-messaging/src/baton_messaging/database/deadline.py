"""A deadline bounds what a question may take: connecting, each statement, each lock that it waits for.

One deadline is handed from step to step, so that what the first step used up is missing to the second. A process that
asks several servers at once waits for all of them together: ``health/answers.py``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

from django.db import connection, transaction

#: What is left at least of a deadline that has passed: 0 means "for ever" to PostgreSQL and to sockets.
MIN_SECONDS: Final = 0.05
#: A lock that a migration or a forgotten session holds is reported, not waited for.
LOCK_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Deadline:
    """A moment of the monotonic clock."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the moment in so many seconds."""
        return cls(monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """Return what is left, MIN_SECONDS at least: a time-out that each library understands."""
        return max(MIN_SECONDS, self.at - monotonic())

    @property
    def has_passed(self) -> bool:
        """Tell whether nothing is left."""
        return monotonic() >= self.at

    def earlier(self, seconds: float) -> "Deadline":
        """Return one that leaves so much time for what comes after."""
        return Deadline(self.at - seconds)


@contextmanager
def statements_within(deadline: Deadline, *, lock_seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Let the server end a statement inside that outlives the deadline, or waits for a lock. Raises OperationalError.

    For one transaction: behind PgBouncer what a session sets stays with a connection that others get next.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)",
                [milliseconds(deadline.seconds_left), milliseconds(min(lock_seconds, deadline.seconds_left))],
            )
        yield


def milliseconds(seconds: float) -> str:
    """Return a length of time as PostgreSQL's settings are written.

    >>> milliseconds(1.5), milliseconds(0.0001)
    ('1500ms', '1ms')
    """
    return f"{max(1.0, seconds * 1_000):.0f}ms"
