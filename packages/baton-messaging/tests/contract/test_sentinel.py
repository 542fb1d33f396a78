"""The master is gone, its replica takes over: relay and worker go on there, and nothing is lost or doubled."""

from pathlib import Path

import pytest
from baton_dev.testing.processes import relay_command, running, wait_until, worker_command
from baton_dev.testing.sentinel import watched_valkey

from tests.relaying.outbox_and_queue import place
from tests.sample.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(240)]
BEFORE, AFTER = 20, 30


def test_relay_and_worker_go_on_with_the_new_master(tmp_path: Path) -> None:
    with watched_valkey(tmp_path) as valkey:
        environment = {"CELERY_BROKER_URL": valkey.url}
        relay, worker = relay_command(), worker_command("sample")
        with (
            running(relay, log=tmp_path / "relay.log", ready="relay_started", env=environment),
            running(worker, log=tmp_path / "worker.log", ready=" ready.", env=environment),
        ):
            place(BEFORE)
            wait_until(lambda: taken() == BEFORE, seconds=60, what=f"{BEFORE} effects")
            old = valkey.master_port()

            valkey.master.kill()
            place(AFTER)

            wait_until(lambda: valkey.master_port() != old, seconds=30, what="a new master")
            wait_until(lambda: taken() == BEFORE + AFTER, seconds=90, what="the effects after the failover")


def taken() -> int:
    return Effect.objects.filter(consumer="take_one").count()
