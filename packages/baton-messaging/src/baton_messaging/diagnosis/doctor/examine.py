"""Ask everything at the same time, and wait for nobody longer than the deadline.

First what needs nothing (database, broker, mail server), then what needs one of those. A server that accepts a
connection and then says nothing costs one deadline; what depends on it is not asked, and says so. Threads that are
still waiting then are left behind: the command ends without them.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from django.db import connection, connections, transaction

from baton_messaging.diagnosis.doctor.lines import Line, Verdict, unknown
from baton_messaging.diagnosis.doctor.redaction import without_secrets
from baton_messaging.diagnosis.doctor.register import DATABASE, Examination, all_examinations


def ask_all() -> list[Line]:
    """Return the lines of all examinations, in their order. Takes two deadlines at most."""
    examinations = all_examinations()
    first = [examination for examination in examinations if not examination.needs]
    answers = _ask_together(first)
    silent = {name for name, lines in answers.items() if any(line.verdict is Verdict.UNKNOWN for line in lines)}
    asked = [examination for examination in examinations if examination.needs and not silent & {*examination.needs}]
    answers |= _ask_together(asked)
    answers |= {one.name: [_not_asked(one, silent)] for one in examinations if one.name not in answers}
    lines = [line for one in examinations for line in answers[one.name]]
    return [without_secrets(line) for line in lines]


def _ask_together(examinations: Sequence[Examination]) -> dict[str, list[Line]]:
    started = time.monotonic()
    questions = [_Question(examination) for examination in examinations]
    for question in questions:
        question.start()
    for question in questions:
        question.join(max(0.0, started + question.deadline_seconds - time.monotonic()))
    return {question.name: question.answer() for question in questions}


class _Question(threading.Thread):
    def __init__(self, examination: Examination) -> None:
        super().__init__(name=examination.name, daemon=True)
        self._examination = examination
        self.deadline_seconds = examination.deadline_seconds
        self._lines: list[Line] | None = None

    def run(self) -> None:
        try:
            with _limited(self.deadline_seconds) if DATABASE in self._examination.needs else nullcontext():
                self._lines = list(self._examination.examine())
        except Exception as error:  # one failing question never stops the others
            self._lines = [self._open(f"{type(error).__name__}: {_first_line(error)}")]
        finally:
            connections.close_all()

    def answer(self) -> list[Line]:
        """Return what is known now."""
        return [self._open(f"no answer within {self.deadline_seconds:g} s")] if self._lines is None else self._lines

    def _open(self, found: str) -> Line:
        remedy = "Look whether that server is there and not overloaded, then ask again."
        return unknown(self._examination.name, found=found, remedy=remedy)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Let the server end a statement that nobody waits for any more.

    For one transaction: behind PgBouncer what a session sets stays with a connection that others get next.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds:.3f}s"])
        yield


def _not_asked(examination: Examination, silent: set[str]) -> Line:
    missing = ", ".join(name for name in examination.needs if name in silent)
    return Line(examination.name, Verdict.UNKNOWN, f"not asked: no answer from the {missing}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]
