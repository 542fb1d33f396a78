"""The installation's present causes are asked for quickly: what stops work now, for triage, board, alerts, stuck list.

Two looks at the same time: what each process has stored with its heartbeat (what the work sees, and to what it is
wired), and a short look of this process's own at database and broker. Nothing is raised: a server that does not answer
is itself a cause.
"""

import threading
from collections.abc import Iterable
from time import monotonic
from typing import Any, Final

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.diagnosis.servers.look import Seen, compared, seen_by_processes
from baton_messaging.health.answers import Question, answers_within
from baton_messaging.health.broker_connection import broker_connection
from baton_messaging.health.condition import Condition
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind
from baton_messaging.health.run import run_checks
from baton_messaging.processes.broker_consumers import unknown_consumers
from baton_messaging.processes.comparison import wiring_differences
from baton_messaging.processes.findings import process_findings

DEADLINE_SECONDS: Final = 1.0  # of the two that an answer of triage may take
#: Of the deadline, for what the processes and the broker's list tell: it must be there when the looks are.
STORED_SHARE: Final = 0.75
#: How long an answer counts for pages that ask every few seconds.
LIFETIME_SECONDS: Final = 2.0
#: The servers that this process looks at itself; services are looked at where the work is.
OWN_LOOKS: Final = ("database", "broker")

_lock = threading.Lock()
_last: tuple[float, tuple[Diagnosis, ...]] | None = None


def current_causes(deadline_seconds: float = DEADLINE_SECONDS) -> tuple[Diagnosis, ...]:
    """Return those findings that stop work (``stops_work``).

    Use ``health.causes.fold`` to stand findings of one's own under them.
    """
    return tuple(one for one in current_findings(deadline_seconds) if one.stops_work)


def current_findings(deadline_seconds: float = DEADLINE_SECONDS) -> tuple[Diagnosis, ...]:
    """Return what is wrong with servers, wiring and processes, the nearest to the ground first.

    Takes ``deadline_seconds`` at most, and raises nothing.
    """
    stored = _Stored()
    asking = threading.Thread(target=stored.read, args=(deadline_seconds,), name="stored-health", daemon=True)
    asking.start()
    healths = run_checks(OWN_LOOKS, deadline_seconds=deadline_seconds)
    asking.join(max(0.0, deadline_seconds - stored.age_seconds))
    if stored.has_answered:  # so the database does: what was late is this machine, or the look
        healths = [one for one in healths if not (one.name == "database" and one.condition is Condition.AWAY)]
    return tuple(_findings([*compared(healths, stored.seen), *stored.findings]))


def recent_causes() -> tuple[Diagnosis, ...]:
    """Return the present causes, as old as ``recent_findings``."""
    return tuple(one for one in recent_findings() if one.stops_work)


def recent_findings() -> tuple[Diagnosis, ...]:
    """Return the present findings, two seconds old at most: for a page that many people have open."""
    global _last  # noqa: PLW0603 - one answer per process is the point
    with _lock:
        if _last is None or monotonic() - _last[0] > LIFETIME_SECONDS:
            _last = monotonic(), current_findings()
        return _last[1]


def forget() -> None:
    """Let the next page look anew: for whoever has changed something and wants to see what comes of it."""
    global _last  # noqa: PLW0603 - as above
    with _lock:
        _last = None


class _Stored:
    """What the processes have stored with their heartbeats, as far as the database tells it in time."""

    def __init__(self) -> None:
        self._started = monotonic()
        self.seen: dict[str, list[Seen]] = {}
        self.findings: list[Diagnosis] = []
        self.has_answered = False

    @property
    def age_seconds(self) -> float:
        """Return for how long it has been asked for."""
        return monotonic() - self._started

    def read(self, deadline_seconds: float) -> None:
        """Read what there is. An error is the database's or the broker's, which have looks of their own."""
        questions: dict[str, Question[Any]] = {"stored": self._ask, "strangers": _strangers}
        answers = answers_within(deadline_seconds * STORED_SHARE, questions)
        if answers["stored"].value is not None:
            self.seen, findings = answers["stored"].value
            self.findings = [*findings, *(answers["strangers"].value or [])]
            self.has_answered = True

    @staticmethod
    def _ask(deadline: Deadline) -> tuple[dict[str, list[Seen]], list[Diagnosis]]:
        with statements_within(deadline):
            return seen_by_processes(), [*wiring_differences(), *process_findings()]


def _strangers(deadline: Deadline) -> list[Diagnosis]:
    """Return who consumes here and is not known here."""
    with broker_connection(deadline) as broker, statements_within(deadline):
        return unknown_consumers(broker, deadline.seconds_left)


def _findings(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    order = tuple(Kind)
    found = [one for one in diagnoses if one.status is Status.FINDING]
    return sorted(found, key=lambda one: order.index(one.about.kind))
