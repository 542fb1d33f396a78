"""The run of all examinations at the same time, each within its deadline.

First those that need nothing (database, broker, mail server), then those that need one of these. A server that accepts
a connection and then says nothing costs one deadline; what depends on it is skipped, and says so. Threads that still
wait then are left behind: the command ends without them.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from django.db import connection, connections, transaction

from baton_messaging.diagnosis.doctor.examination import (
    DATABASE,
    Examination,
    Observation,
    Status,
    all_examinations,
    unknown,
)
from baton_messaging.diagnosis.doctor.redaction import redacted


def examine_all() -> list[Observation]:
    """Return the observations of all examinations, in their order. Takes two deadlines at most."""
    examinations = all_examinations()
    first = [one for one in examinations if not one.needs]
    answers = _examine_together(first)
    silent = {name for name, found in answers.items() if any(one.status is Status.UNKNOWN for one in found)}
    answerable = [one for one in examinations if one.needs and not silent & {*one.needs}]
    answers |= _examine_together(answerable)
    answers |= {one.name: [_skipped(one, silent)] for one in examinations if one.name not in answers}
    observations = [observation for one in examinations for observation in answers[one.name]]
    return [redacted(observation) for observation in observations]


def _examine_together(examinations: Sequence[Examination]) -> dict[str, list[Observation]]:
    started = time.monotonic()
    threads = [_ExaminationThread(examination) for examination in examinations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, started + thread.deadline_seconds - time.monotonic()))
    return {thread.name: thread.observations() for thread in threads}


class _ExaminationThread(threading.Thread):
    def __init__(self, examination: Examination) -> None:
        super().__init__(name=examination.name, daemon=True)
        self._examination = examination
        self.deadline_seconds = examination.deadline_seconds
        self._observations: list[Observation] | None = None

    def run(self) -> None:
        try:
            with _statement_deadline(self.deadline_seconds) if DATABASE in self._examination.needs else nullcontext():
                self._observations = list(self._examination.examine())
        except Exception as error:  # one that fails never stops the others
            self._observations = [self._open(f"{type(error).__name__}: {_first_line(error)}")]
        finally:
            connections.close_all()

    def observations(self) -> list[Observation]:
        """Return the observations made so far: all, or that there was no answer in time."""
        if self._observations is None:
            return [self._open(f"no answer within {self.deadline_seconds:g} s")]
        return self._observations

    def _open(self, found: str) -> Observation:
        remedy = "Look whether that server is there and not overloaded, then ask again."
        return unknown(self._examination.name, found=found, remedy=remedy)


@contextmanager
def _statement_deadline(seconds: float) -> Iterator[None]:
    """Let the server end a statement that outlives the deadline.

    For one transaction: behind PgBouncer what a session sets stays with a connection that others get next.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds:.3f}s"])
        yield


def _skipped(examination: Examination, silent: set[str]) -> Observation:
    missing = ", ".join(name for name in examination.needs if name in silent)
    return Observation(examination.name, Status.UNKNOWN, f"not asked: no answer from the {missing}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]
