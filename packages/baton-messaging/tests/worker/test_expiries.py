"""A real worker drops what its sender let expire, and counts it."""

import pytest
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.models import DeadLetter, Expiry
from celery import current_app

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]

TICK = "baton.rollup"


def test_a_worker_counts_the_tick_that_it_drops(worker: Process) -> None:
    current_app.send_task(TICK, expires=-1, queue="sample")
    wait_until(Expiry.objects.exists, what="the count of the dropped tick")
    expiry = Expiry.objects.get()
    assert (expiry.task, expiry.message_count) == (TICK, 1)
    assert not DeadLetter.objects.exists()
