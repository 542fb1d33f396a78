"""Fixtures of every suite, as a pytest plugin; and an end to what a test has started.

A project without Playwright has no browser, one without Hypothesis no profiles of it; all else is there.
"""

from collections.abc import Generator, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from baton_messaging.broker.inspect import snapshot
from django.db import connection
from django.utils import translation
from pytest_django.plugin import blocking_manager_key

from baton_dev.testing import empty_tables, evidence
from baton_dev.testing.drain import drain, empty_queues, end_shared_processes, forget_unacked
from baton_dev.testing.forkserver import stop_fork_servers
from baton_dev.testing.pgbouncer import pooled, pooled_url  # noqa: F401 - for all
from baton_dev.testing.processes import Process
from baton_dev.testing.shared_processes import end_all_but, shared

if find_spec("playwright"):
    from baton_dev.testing.browser import browser, open_as, open_page, usual_tab  # noqa: F401 - one process has one

empty_tables.install()


def pytest_unconfigure() -> None:
    """Leave no process behind."""
    stop_fork_servers()


if find_spec("hypothesis"):
    import hypothesis

    # How long an example takes tells of the other tests beside it. CI's own profile measures nothing either.
    UNTIMED = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("default", UNTIMED)
    hypothesis.settings.register_profile(
        "thorough", UNTIMED, max_examples=2_000
    )  # pytest --hypothesis-profile=thorough


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run without the processes that an earlier test has asked for, and this one does not.

    A hook, because the fixtures of a test may begin with a transaction: in there, what is deleted comes back.
    """
    with item.config.stash[blocking_manager_key].unblock():
        end_shared_processes(but_for=getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say of a test with real processes that failed how far it got, before its tables are emptied."""
    report = yield
    if report.when == "call" and report.failed:
        if "drained" in getattr(item, "fixturenames", ()):
            evidence.add_messages(report)
        evidence.add_processes(report)
    return report


@pytest.fixture(autouse=True)
def _speak_english() -> None:
    """Start in the default language: a request of an earlier test may have left another one active."""
    translation.deactivate()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """End what is still connected before the database is dropped: a thread that answers nobody any more."""
    yield
    end_all_but(())
    connection.close()  # the last test may have ended it
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def empty_broker() -> None:
    """Start with nothing in the broker."""
    empty_queues()
    forget_unacked()


@pytest.fixture
def drained(transactional_db: None, empty_broker: None) -> Iterator[None]:
    """End with nothing under way (`drain`). The processes that tests share depend on it."""
    yield
    drain()


@pytest.fixture
def long_snapshot_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the broker's answer, however busy the machine is: what is tested is the answer, not the time."""
    if snapshot._pending is not None:  # a question of the test before
        snapshot._pending.exception(timeout=10)
    monkeypatch.setattr(snapshot, "_last", None)
    monkeypatch.setattr(snapshot.depths_in_time, "__kwdefaults__", {"seconds": 10.0})


@pytest.fixture
def worker(drained: None) -> Process:
    """Run one worker for every queue of the project; the next test may share it, so leave it alive."""
    return shared("worker")


@pytest.fixture
def relay(drained: None) -> Process:
    """Run one relay; the next test may share it, so leave it alive."""
    return shared("relay")


@pytest.fixture
def collector(drained: None) -> Process:
    """Run one collector of dead letters; the next test may share it, so leave it alive."""
    return shared("collector")
