"""Both time limits, waited out: a worker with limits of seconds is stopped by the soft one, killed by the hard one."""

from pathlib import Path
from typing import Any

import pytest
from baton_dev.testing.processes import running, wait_until, worker_command
from baton_messaging.models import Attempt
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.testing import dead_letters
from celery import current_app
from django.db import connection

from orders.exports import housekeeping
from orders.exports.building import build
from orders.exports.models import Export
from orders.exports.states import ExportState, Failure
from orders.tasks import build_export
from tests.orders.exports import hurried_settings
from tests.orders.exports.factories import an_export, is_processed, many_orders, slow_lines

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("committed_catalogue", "empty_broker")]

SOFT_LIMIT = hurried_settings.EXPORTS["SOFT_TIME_LIMIT_SECONDS"]
HARD_LIMIT = hurried_settings.EXPORTS["TIME_LIMIT_SECONDS"]


@pytest.fixture
def _hurried(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the part of beat and of the relay, whose messages carry the limits, by the worker's settings."""
    settings.EXPORTS = hurried_settings.EXPORTS
    monkeypatch.setattr(build_export, "soft_time_limit", settings.EXPORTS["SOFT_TIME_LIMIT_SECONDS"])
    monkeypatch.setattr(build_export, "time_limit", settings.EXPORTS["TIME_LIMIT_SECONDS"])


def send() -> None:
    with current_app.connection_for_write() as broker:
        send_outbox(current_app.amqp.Producer(broker, auto_declare=False))


def files_of(export: Export) -> list[str]:
    folder = Path(hurried_settings.EXPORTS["SCRATCH_DIR"]).parent
    return [path.name for path in folder.rglob(f"{export.pk}*")]


def is_copying() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%'")
        return cursor.fetchone() is not None


def outcome(export: Export) -> tuple[str, str, int | None]:
    export.refresh_from_db()
    return export.state, export.failure, export.limit


@pytest.mark.usefixtures("_hurried")
def test_the_soft_and_the_hard_limit_each_end_an_export_in_a_state_that_names_it(tmp_path: Path) -> None:
    many_orders(100)
    command = worker_command("orders.bulk", concurrency=2)
    env = {"DJANGO_SETTINGS_MODULE": hurried_settings.__name__}
    with running(command, log=tmp_path / "worker.log", ready=" ready.", env=env):
        with slow_lines(1):
            slow, stuck = an_export(), an_export(from_day="2999-01-01")  # slow rows; none, and a storage that is deaf
            send()
            wait_until(lambda: outcome(slow)[0] == ExportState.FAILED, what="the soft limit")
            wait_until(lambda: not is_copying(), what="the end of the statement")
        wait_until(housekeeping.take_up_abandoned, what="the hard limit")
        assert outcome(slow) == (ExportState.FAILED, Failure.TIME_LIMIT, SOFT_LIMIT)
        assert outcome(stuck) == (ExportState.FAILED, Failure.TIME_LIMIT, HARD_LIMIT)
        wait_until(lambda: is_processed(slow) and is_processed(stuck), what="the end of both messages")
    assert not Attempt.objects.exists()
    assert dead_letters() == []
    assert files_of(slow) == []
    build(an_export().pk, worker="next")  # sweeps away what the killed one could not
    assert files_of(stuck) == []
