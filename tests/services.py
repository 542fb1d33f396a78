"""Pytest plugin: PostgreSQL and Valkey for the tests, started before Django reads its settings.

Loaded by ``-p tests.services`` (pyproject.toml). TEST_DATABASE_URL and TEST_BROKER_URL name other servers.
"""

import os
import secrets
from pathlib import Path

import pytest

from config.embedded import Postgres, Valkey

STATE_DIR = Path(__file__).resolve().parent.parent / "var" / "test"
_started: list[Postgres | Valkey] = []


def _start() -> None:
    state_dir = Path(os.environ.get("BATON_STATE_DIR", STATE_DIR))
    state_dir.mkdir(parents=True, exist_ok=True)
    os.environ["BATON_STATE_DIR"] = str(state_dir)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DJANGO_DEBUG"] = "1"
    os.environ["DJANGO_SECRET_KEY"] = secrets.token_urlsafe(50)
    os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or _run(Postgres(state_dir, durable=False))
    os.environ["CELERY_BROKER_URL"] = os.environ.get("TEST_BROKER_URL") or _run(Valkey(state_dir))


def _run(service: Postgres | Valkey) -> str:
    url = service.start()
    _started.append(service)
    return url


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Stop what was started, last first."""
    while _started:
        _started.pop().stop()


_start()
