"""The Procfile: every queue has its worker, and no shell stands between a signal and the process that it is for."""

import re

from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.procfile import read_procfile
from django.conf import settings

from config.queues import QUEUES

PROGRAMS = read_procfile(PROJECT_DIR / "Procfile")


def test_every_queue_is_consumed_by_exactly_one_program() -> None:
    consumed = [
        queue
        for program in PROGRAMS
        if "worker" in program.command
        for queue in program.command[program.command.index("-Q") + 1].split(",")
    ]

    assert sorted(consumed) == sorted(queue.name for queue in QUEUES)


def test_every_worker_has_a_node_name_of_its_own() -> None:
    names = [program.command[program.command.index("-n") + 1] for program in PROGRAMS if "worker" in program.command]

    assert len(names) == len(set(names))


def test_no_worker_holds_a_message_that_it_has_no_child_for() -> None:
    """docs/decisions/a-worker-holds-one-message-per-child.md says why."""
    assert settings.CELERY_WORKER_PREFETCH_MULTIPLIER == 1
    assert not [program.name for program in PROGRAMS if "prefetch" in " ".join(program.command)]


def test_no_program_needs_a_shell() -> None:
    assert all(program.command[0] == "python" for program in PROGRAMS)
    assert not any(re.search(r"[$;&|<>`]", word) for program in PROGRAMS for word in program.command)


def test_beat_writes_no_pid_file() -> None:
    (beat,) = (program for program in PROGRAMS if program.name == "beat")

    assert "--pidfile=" in beat.command
