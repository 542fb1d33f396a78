"""Servers examined: database, broker, mail, storage and machine, by doing what the work does with each.

All checks run at the same time. Nothing else of the doctor's is asked of a server that does not answer.
"""

from collections.abc import Iterator
from typing import Final

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.diagnosis.doctor.examination import BROKER, DATABASE
from baton_messaging.diagnosis.servers.look import Seen, compared, seen_by_processes
from baton_messaging.health.answers import answers_within
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.registry import check_named, check_names
from baton_messaging.health.run import run_checks

#: A server in one of these conditions has nothing to say to further questions.
_SILENT: Final = (Condition.AWAY, Condition.NOT_PERMITTED)
#: Of the deadline, what is left to read the heartbeats.
_REST_SECONDS: Final = 0.5


class Servers:
    """One look at all servers. ``silent``: those that further questions need not be put to."""

    def __init__(self, deadline_seconds: float) -> None:
        self._deadline_seconds = deadline_seconds
        self.silent: frozenset[str] = frozenset((DATABASE, BROKER))  # until they have answered

    def examine(self) -> Iterator[Diagnosis]:
        """Return what was found."""
        names = [name for name in check_names() if check_named(name)]
        healths = run_checks(names, deadline_seconds=self._deadline_seconds - _REST_SECONDS)
        self.silent = frozenset(_silent(healths))
        yield from compared(healths, {} if DATABASE in self.silent else _seen())


def _seen() -> dict[str, list[Seen]]:
    """Return what the processes have seen, or nothing, if the database does not tell in time: its check says why."""
    return answers_within(_REST_SECONDS / 2, {"seen": _ask})["seen"].value or {}


def _ask(deadline: Deadline) -> dict[str, list[Seen]]:
    with statements_within(deadline):
        return seen_by_processes()


def _silent(healths: list[Health]) -> Iterator[str]:
    for health in healths:
        is_pool_empty = health.condition is Condition.REFUSES and health.facts.get("pooler")
        if health.condition in _SILENT or is_pool_empty:
            yield health.name
