"""A project of 0.2.0 is upgraded to today's code, with messages waiting, sent, retrying and dead: all settle, once."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest
from baton_dev.testing.processes import Process, alone, started, wait_until
from redis import Redis

HERE: Final = Path(__file__).parent
INVOICES: Final = (1, 2, 3, 4, 5)


class Upgraded:
    """The project, its database and its broker, with the packages that are installed here."""

    def __init__(self, folder: Path, database_url: str, broker_url: str) -> None:
        self.folder = folder
        self.database_url = database_url
        self._variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(folder),
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "billing.settings",
            "DATABASE_URL": database_url,
            "CELERY_BROKER_URL": broker_url,
        }

    def manage(self, *words: str, succeeds: bool = True) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "django", *words],
            cwd=self.folder,
            env=self._variables,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode == 0) == succeeds, done.stdout + done.stderr
        return done.stdout

    def start(self, name: str, *words: str) -> None:
        command = ["env", "-C", str(self.folder), sys.executable, "-m", *words]
        Process(command, log=self.folder / f"{name}.log", env=self._variables, start=alone)

    def ask(self, question: str) -> list[Any]:
        with psycopg.connect(self.database_url) as connection:
            return [row[0] for row in connection.execute(question).fetchall()]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Upgraded]:
    folder = tmp_path / "billing"
    shutil.copytree(HERE / "project_0_2", folder, ignore=shutil.ignore_patterns("__pycache__"))
    server, _slash, _name = os.environ["DATABASE_URL"].rpartition("/")
    name = f"upgrade_{uuid4().hex[:8]}"
    broker_url = os.environ["CELERY_BROKER_URL"].rpartition("/")[0] + "/7"  # a database of its own
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(f"{server}/{name}") as loading:
            loading.execute((HERE / "dump_0_2.sql").read_text())
        broker = Redis.from_url(broker_url)
        for message in json.loads((HERE / "queue_0_2.json").read_text()):
            broker.lpush("invoices", json.dumps(message))
        before = len(started)
        try:
            yield Upgraded(folder, f"{server}/{name}", broker_url)
        finally:
            for process in started[before:]:
                process.kill()
            broker.flushdb()
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_what_was_under_way_settles_once(project: Upgraded) -> None:
    told = project.manage("doctor", succeeds=False)
    assert f"baton-messaging {version('baton-messaging')}" in told
    assert "python manage.py migrate" in told

    project.manage("migrate", "-v0")
    project.manage("makemigrations", "--check", "--dry-run")
    project.manage("check", "--fail-level", "ERROR")
    project.start("relay", "django", "relay")
    project.start("collector", "django", "collect_dead_letters")
    project.start("worker", "celery", "-A", "billing", "worker", "-Q", "invoices", "-c", "1", "-n", "invoices@test")
    project.manage("dead_letters", "replay", "1", "--why", "the bug is mended")

    def all_settled() -> bool:
        return project.ask("SELECT count(*) FROM invoices_invoice WHERE settled_count = 0") == [0]

    wait_until(all_settled, seconds=60, what="all invoices settled")
    assert project.ask("SELECT settled_count FROM invoices_invoice") == [1] * len(INVOICES)
    assert "invoices.settle_invoice: done" in project.manage("triage", "2")
    project.manage("dead_letters", "list")  # which takes notice of what was applied meanwhile
    assert project.ask("SELECT state FROM baton_dead_letter") == ["resolved"]
