"""How long answers of triage, doctor and board take, with servers that are well or say nothing, and what a look costs.

Nothing runs but the servers: what is asked is the same. With a million rows in each table: ``benchmarks.triage``.
"""

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from baton_messaging.diagnosis import installation
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.diagnosis.problems import problems
from baton_messaging.diagnosis.triage.report import triage_or_outage
from baton_messaging.diagnosis.triage.stuck import survey_or_outage
from baton_messaging.health.registry import check_names
from baton_messaging.health.run import run_checks
from baton_messaging.publish import publish
from celery import current_app
from django.db import connection, transaction

from benchmarks.events import Timed
from benchmarks.report import Check, Figure, Section

#: Seconds that a reader waits; what a start of Python takes comes before.
MAX_SECONDS: Final = {"triage": 2.0, "triage --stuck": 2.0, "board": 2.0, "doctor": 6.0}
#: Processor time of one look at everything: one part in a thousand of a process that looks every 30 seconds.
MAX_PROCESSOR_MS: Final = 30.0
LOOKS: Final = 20
_BROKER_URLS: Final = ("broker_read_url", "broker_write_url")


def measure(*, rounds: int) -> Iterator[Section]:
    """Ask with servers that are well, then with each of them silent; then look at the servers one by one."""
    key = uuid4()
    with transaction.atomic():
        publish(Timed(order_id=key))
    questions = _questions(str(key))
    for ask in questions.values():
        ask()  # the first answer also imports
    yield _section("answers, servers well", questions, rounds=rounds)
    with _silence() as port:
        with _broker_at(port):
            yield _section("answers, the broker says nothing", questions, rounds=min(rounds, 3))
        with _database_at(port):
            yield _section("answers, the database says nothing", questions, rounds=min(rounds, 3))
    yield _looks()


def _questions(key: str) -> dict[str, Callable[[], Any]]:
    def board() -> None:
        installation.forget()
        problems()

    return {
        "triage": lambda: triage_or_outage(key),
        "triage --stuck": survey_or_outage,
        "board": board,
        "doctor": examine_all,
    }


def _section(title: str, questions: Mapping[str, Callable[[], Any]], *, rounds: int) -> Section:
    taken = {name: [_seconds(ask) for _ in range(rounds)] for name, ask in questions.items()}
    figures = [Figure(name, samples, "s") for name, samples in taken.items()]
    checks = [
        Check(f"{name}, slowest", max(taken[name]), limit, "s", at_most=True) for name, limit in MAX_SECONDS.items()
    ]
    return Section(title, figures, checks)


def _seconds(ask: Callable[[], Any]) -> float:
    started = time.perf_counter()
    ask()
    return time.perf_counter() - started


def _looks() -> Section:
    """Measure each health check and all together: time, and processor time of the process that asks."""
    figures, processor_ms = [], 0.0
    for names in (*([name] for name in check_names()), check_names()):
        title = names[0] if len(names) == 1 else "all together"
        run_checks(names, deadline_seconds=10)  # imports, and the first connections
        taken, used = zip(*(_look(names) for _ in range(LOOKS)), strict=True)
        figures += [Figure(title, taken, "ms"), Figure(f"{title}, processor", used, "ms")]
        processor_ms = figures[-1].value
    check = Check("processor time of all", processor_ms, MAX_PROCESSOR_MS, "ms", at_most=True)
    return Section("health checks, servers well", figures, [check])


def _look(names: list[str]) -> tuple[float, float]:
    used = time.process_time()
    taken = _seconds(lambda: run_checks(names, deadline_seconds=10))
    return 1_000 * taken, 1_000 * (time.process_time() - used)


@contextmanager
def _silence() -> Iterator[int]:
    """Listen and never answer, as a stopped server does; yield the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield server.getsockname()[1]


@contextmanager
def _broker_at(port: int) -> Iterator[None]:
    changes: Any = current_app.conf.changes  # which its readers look at first
    before = {name: changes.get(name) for name in _BROKER_URLS}
    changes.update(dict.fromkeys(_BROKER_URLS, f"redis://127.0.0.1:{port}/0"))
    try:
        yield
    finally:
        changes.update(before)


@contextmanager
def _database_at(port: int) -> Iterator[None]:
    before = connection.settings_dict["PORT"]
    connection.close()
    connection.settings_dict["PORT"] = port
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["PORT"] = before
