"""The run of all examinations at the same time, each within its deadline, and their answers folded under causes.

First those that need nothing (database, broker, mail server), then those that need one of these. A server that accepts
a connection and then says nothing costs one deadline; what depends on it is skipped, and says so. Threads that still
wait then are left behind: the command ends without them.
"""

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Final

from django.db import connection, connections, transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.doctor.examination import (
    DATABASE,
    RESOURCES,
    Examination,
    all_examinations,
    unknown,
)
from baton_messaging.diagnosis.doctor.redaction import redacted
from baton_messaging.diagnosis.doctor.servers import Servers
from baton_messaging.health.causes import fold
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status

#: For all servers together: one that says nothing costs this much.
SERVERS_SECONDS: Final = 2.5

Answers = dict[str, list[Diagnosis]]


def examine_all() -> list[Diagnosis]:
    """Return the diagnoses of all examinations, in their order, victims under their cause. Takes two deadlines."""
    servers = Servers(SERVERS_SECONDS)
    first = Examination("servers", servers.examine, deadline_seconds=SERVERS_SECONDS)
    examinations = [first, *all_examinations()]
    answers = _examine_together([one for one in examinations if not one.needs])
    silent = servers.silent
    answers |= _examine_together([one for one in examinations if one.needs and not silent & {*one.needs}])
    answers |= {one.name: [_skipped(one, silent)] for one in examinations if one.name not in answers}
    return redacted(folded(examinations, (found for one in examinations for found in answers[one.name])))


def folded(examinations: Iterable[Examination], diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses, those that are explained by others only under these."""
    needs = {one.about: [RESOURCES[name] for name in one.needs] for one in examinations if one.needs}
    return fold(diagnoses, {**needs_of_consumers(), **needs})


def _examine_together(examinations: Sequence[Examination]) -> Answers:
    started = time.monotonic()
    threads = [_ExaminationThread(examination) for examination in examinations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, started + thread.deadline_seconds - time.monotonic()))
    return {thread.name: thread.diagnoses() for thread in threads}


class _ExaminationThread(threading.Thread):
    def __init__(self, examination: Examination) -> None:
        super().__init__(name=examination.name, daemon=True)
        self._examination = examination
        self.deadline_seconds = examination.deadline_seconds
        self._diagnoses: list[Diagnosis] | None = None

    def run(self) -> None:
        try:
            with _statement_deadline(self.deadline_seconds) if DATABASE in self._examination.needs else nullcontext():
                self._diagnoses = list(self._examination.examine())
        except Exception as error:  # one that fails never stops the others
            self._diagnoses = [self._open(f"{type(error).__name__}: {_first_line(error)}")]
        finally:
            connections.close_all()

    def diagnoses(self) -> list[Diagnosis]:
        """Return the diagnoses made so far: all, or that there was no answer in time."""
        if self._diagnoses is None:
            return [self._open(format_lazy(_("no answer within {seconds:g} s"), seconds=self.deadline_seconds))]
        return self._diagnoses

    def _open(self, found: object) -> Diagnosis:
        remedy = _("Look whether that server is there and not overloaded, then ask again.")
        return unknown(self._examination, found=found, remedy=remedy, command="python manage.py doctor")  # type: ignore[arg-type]


@contextmanager
def _statement_deadline(seconds: float) -> Iterator[None]:
    """Let the server end a statement that outlives the deadline.

    For one transaction: behind PgBouncer what a session sets stays with a connection that others get next.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{seconds:.3f}s"])
        yield


def _skipped(examination: Examination, silent: Collection[str]) -> Diagnosis:
    missing = ", ".join(name for name in examination.needs if name in silent)
    found = format_lazy(_("not asked: no answer from the {server}"), server=missing)
    return Diagnosis(examination.about, examination.name, Status.UNKNOWN, found, confidence=Confidence.OPEN)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0]
