"""The way from the scaffold to a product of one's own, walked from nothing: made, run, tested, upgraded, and back.

With pip, an empty environment and the project's own Makefile; nothing of this repository but the wheels.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest
from baton_dev.new.release import write_release
from baton_dev.project import PROJECT_DIR
from baton_dev.servers.embedded import Postgres
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import Process, alone, wait_until

#: What pip may need to reach the index from here; all else is left out.
KEPT: Final = re.compile(r"PATH|HOME|PIP_\w+|(?i:https?_proxy|no_proxy)|SSL_CERT_\w+|REQUESTS_CA_BUNDLE")
GOAL_SECONDS = 300  # from nothing to the first own event settled
NEXT: Final = "99.0.0"


class Billing:
    """A made project, and what its owner types."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port(seed=f"{folder}:web")
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: Process | None = None
        self._browser = build_opener(HTTPCookieProcessor(CookieJar()))

    def command(self, *words: str) -> list[str]:
        kept = [f"{name}={value}" for name, value in os.environ.items() if KEPT.fullmatch(name)]
        return ["env", "-i", *kept, f"WEB_PORT={self.port}", *words]

    def type(self, *words: str, succeeds: bool = True) -> str:
        """Type a command, to its end; return what it says."""
        done = subprocess.run(
            self.command(*words), cwd=self.folder, check=False, capture_output=True, text=True, timeout=300
        )
        assert (done.returncode == 0) == succeeds, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self) -> None:
        self.log.unlink(missing_ok=True)  # what an earlier run said
        self.process = Process(self.command("make", "-C", str(self.folder), "run"), log=self.log, start=alone)
        self.process.wait_for_output("Kill a worker now", seconds=GOAL_SECONDS)

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    def press_ctrl_c(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(seconds=90)
            self.process.kill()
            self.process = None

    def page(self, data: dict[str, str] | None = None) -> str:
        """Open the page, or send its form as a browser does."""
        if data is not None:
            token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.page())
            assert token
            data = {**data, "csrfmiddlewaretoken": token[1]}
        with self._browser.open(f"{self.address}/", urlencode(data).encode() if data else None, timeout=30) as answer:
            return str(answer.read().decode())

    def manage(self, *words: str) -> Any:
        return self.type(".venv/bin/python", "-m", "baton_dev.run", "manage", *words)


@pytest.fixture
def billing(tmp_path: Path) -> Iterator[Billing]:
    billing = Billing(tmp_path / "billing")
    yield billing
    try:
        billing.press_ctrl_c()
    finally:
        Postgres(billing.folder / "var").destroy()


@pytest.fixture
def next_release(tmp_path: Path) -> Path:
    """Write a release of later: another version, and a migration more."""
    scaffold = tmp_path / "baton"
    scaffold.mkdir()
    for name in ("requirements.lock", "requirements-dev.lock", "pyproject.toml"):
        shutil.copy(PROJECT_DIR / name, scaffold)
    for package in ("baton-messaging", "baton-dev"):
        shutil.copytree(PROJECT_DIR / "packages" / package / "src", scaffold / "packages" / package / "src")
        for path in (PROJECT_DIR / "packages" / package).glob("*[!.]*"):
            if path.is_file():
                shutil.copy(path, scaffold / "packages" / package)
        about = scaffold / "packages" / package / "pyproject.toml"
        about.write_text(re.sub(r'^version = ".*"$', f'version = "{NEXT}"', about.read_text(), flags=re.MULTILINE))
    changes = (PROJECT_DIR / "CHANGELOG.md").read_text().replace("## Unreleased", f"## {NEXT} – 2030-01-01", 1)
    (scaffold / "CHANGELOG.md").write_text(changes)
    migrations = scaffold / "packages/baton-messaging/src/baton_messaging/migrations"
    last = max(path.stem for path in migrations.glob("0*.py"))
    (migrations / "0999_next.py").write_text(
        "from django.db import migrations\n\n\nclass Migration(migrations.Migration):\n"
        f'    dependencies = [("baton_messaging", "{last}")]\n'
        '    operations = [migrations.RunSQL("SELECT 1", "SELECT 1")]\n'
    )
    write_release(scaffold, tmp_path / "release")
    return tmp_path / "release"


@pytest.mark.timeout(900)
def test_a_project_of_ones_own_is_made_run_tested_upgraded_and_taken_back(billing: Billing, next_release: Path) -> None:
    began = time.monotonic()
    make = ["make", "-C", str(PROJECT_DIR), "new", f"DIR={billing.folder}", "NAME=billing", "APP=invoices"]
    subprocess.run(billing.command(*make), check=True, capture_output=True)
    billing.run()
    assert "the first" in billing.page({"text": "the first"})
    wait_until(lambda: "not yet" not in billing.page(), what="the first event settled")
    assert time.monotonic() - began < GOAL_SECONDS

    stands_on_its_own(billing)
    is_looked_after(billing)
    billing.press_ctrl_c()
    assert re.search(r"\d+ passed", billing.type(".ci/run"))

    told = billing.type("make", "upgrade", f"FROM={next_release}")
    assert f"## {NEXT}" in told
    assert "baton_messaging.0999_next" in told
    assert "System check identified no issues" in told
    billing.run()
    assert "the first" in billing.page()
    assert "[X] 0999_next" in billing.manage("showmigrations", "baton_messaging")
    assert "Stop it first" in billing.type("make", "upgrade", "BACK=1", succeeds=False)
    billing.press_ctrl_c()

    told = billing.type("make", "upgrade", "BACK=1")
    assert "Unapplying baton_messaging.0999_next... OK" in told
    billing.run()
    assert "0999_next" not in billing.manage("showmigrations", "baton_messaging")
    billing.page({"text": "the second"})
    wait_until(lambda: "not yet" not in billing.page(), what="an event settled by the version of before")


def stands_on_its_own(billing: Billing) -> None:
    """Nothing leads into this repository: it may be gone."""
    place = billing.type(".venv/bin/python", "-c", "import baton_messaging; print(baton_messaging.__file__)")
    assert Path(place.strip()).is_relative_to(billing.folder / ".venv")
    texts = [path for path in billing.folder.rglob("*") if path.is_file() and not {".venv", "var"} & set(path.parts)]
    assert [path for path in texts if str(PROJECT_DIR).encode() in path.read_bytes()] == []


def is_looked_after(billing: Billing) -> None:
    """Doctor, triage, figures, and the pages of the staff."""
    answers = json.loads(billing.manage("doctor", "--format", "json"))
    assert answers["healthy"], [answer for answer in answers["lines"] if answer["verdict"] != "ok"]
    assert "invoices.settle_entry: done" in billing.manage("triage", "1")
    with urlopen(f"{billing.address}/metrics", timeout=30) as answer:
        assert b"baton_" in answer.read()
