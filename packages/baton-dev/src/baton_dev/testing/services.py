"""PostgreSQL and Valkey of the tests, as a pytest plugin: started before Django reads its settings.

Loaded by ``-p baton_dev.testing.services`` (pyproject.toml). With pytest-xdist (``-n 4 --dist loadfile``) each of its
processes has servers of its own, so that none takes another's messages. TEST_DATABASE_URL and TEST_BROKER_URL name
other servers; then leave ``-n`` out.
"""

import os
import secrets
import sys
from pathlib import Path

import pytest

from baton_dev.project import PROJECT_DIR
from baton_dev.servers.embedded import Postgres, Valkey

STATE_DIR = PROJECT_DIR / "var" / "test"
NOBODY = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "CELERY_BROKER_URL": "redis://127.0.0.1:1/0"}
_started: list[Postgres | Valkey] = []


def _prepare() -> None:
    state_dir = Path(os.environ.get("BATON_STATE_DIR", STATE_DIR)) / os.environ.get("PYTEST_XDIST_WORKER", "")
    state_dir.mkdir(parents=True, exist_ok=True)
    os.environ["DJANGO_DEBUG"] = "1"
    os.environ["DJANGO_SECRET_KEY"] = secrets.token_urlsafe(50)
    if _only_distributes():
        os.environ.update(NOBODY)
        return
    os.environ["BATON_STATE_DIR"] = str(state_dir)
    os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or _run(Postgres(state_dir, durable=False))
    os.environ["CELERY_BROKER_URL"] = os.environ.get("TEST_BROKER_URL") or _run(Valkey(state_dir))


def _only_distributes() -> bool:
    """Tell whether this is the process that hands tests to others. Too early for pytest's own options."""
    return "PYTEST_XDIST_WORKER" not in os.environ and any(
        word.startswith("-n") and word != "-n0" for word in sys.argv[1:]
    )


def _run(service: Postgres | Valkey) -> str:
    url = service.start()
    _started.append(service)
    return url


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Stop what was started, last first."""
    while _started:
        _started.pop().stop()


_prepare()
