"""A tick that fails is over: nobody is asked about it, and nothing of it comes back."""

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from celery import current_app
from django_celery_results.models import TaskResult

from tests.sample.tasks import fail_by_schedule

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]


def depth_of(*queues: str) -> int:
    with current_app.connection_for_read() as broker:
        return sum(depth.total for depth in depths(broker, queues).values())


def test_a_failed_tick_leaves_its_result_and_no_dead_letter() -> None:
    fail_by_schedule.apply_async()  # type: ignore[attr-defined]  # a task, which the decorator's type does not say
    wait_until(TaskResult.objects.filter(status="FAILURE").exists, what="the result of the tick")
    wait_until(lambda: depth_of("sample") == 0, what="the end of its message")
    assert depth_of(DEAD_LETTER_QUEUE) == 0
