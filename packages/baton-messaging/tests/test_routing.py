"""Which queue a task goes to: Baton's own by the table, a project's plain ones as Celery has it."""

from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.conf import BadSetting, Queue, baton
from baton_messaging.routing.ownership import platform_owner, platform_queue
from baton_messaging.routing.queues import UnknownQueue, celery_queues, route_task
from baton_messaging.routing.send import send_bundle
from celery import Celery
from celery.app.routes import Router, prepare
from django.conf import settings as project

from tests.project.queues import PLATFORM


@pytest.fixture
def another_platform_queue(settings: Any) -> str:
    """Be a project that has called the platform's queue something else."""
    queues = [queue for queue in project.BATON["QUEUES"] if queue.name != "baton"]
    settings.BATON = {**project.BATON, "QUEUES": [*queues, Queue("housekeeping", owner=PLATFORM)]}
    settings.BATON = {**settings.BATON, "PLATFORM_QUEUE": "housekeeping"}
    return "housekeeping"


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("parcels.count", "parcels"),
        ("baton.prune", "baton"),
        ("celery.backend_cleanup", None),
        ("billing.send_invoice", None),  # an app without a queue
        ("parcels.tasks.send_report", None),  # Celery's own name for a plain task
        ("send_report", None),
    ],
)
def test_a_task_goes_by_the_table_or_as_celery_has_it(task: str, queue: str | None) -> None:
    assert route_task(task) == ({"queue": queue} if queue else None)


def test_baton_s_own_tasks_go_to_the_platform_s_queue_whatever_it_is_called(another_platform_queue: str) -> None:
    assert route_task("baton.reconcile") == {"queue": another_platform_queue}
    assert platform_queue().name == another_platform_queue
    assert platform_owner() == PLATFORM


def test_a_plain_task_goes_to_the_projects_default_queue() -> None:
    app = Celery("adopter", set_as_current=False)
    app.conf.task_default_queue = "celery"
    router = Router(prepare((route_task,)), app.amqp.queues, app=app)
    assert router.route({}, "shop.tasks.resize_image")["queue"].name == "celery"


def test_a_platform_queue_without_owner_is_refused_by_one_sentence(settings: Any) -> None:
    settings.BATON = {**project.BATON, "PLATFORM_QUEUE": "plattform"}
    with pytest.raises(BadSetting, match=r"'PLATFORM_QUEUE'.*expected a queue of QUEUES.*got 'plattform'"):
        baton()


def test_a_consumer_whose_app_has_no_queue_is_refused_and_not_sent_to_the_default_queue() -> None:
    with pytest.raises(UnknownQueue, match="billing"):
        send_bundle("billing.send_invoice", ["sealed"], message_ids=[uuid4()])


@pytest.mark.parametrize("queues", [["parcels"], [], [PLATFORM], [Queue("dead_letters", owner=PLATFORM)]])
def test_a_table_that_is_none_is_refused_where_the_settings_declare_it(queues: list[Any]) -> None:
    """Before any check can speak, and by the same sentence."""
    with pytest.raises(BadSetting, match=r"^BATON\['QUEUES'\]: expected "):
        celery_queues(queues, delivery_limit=3)
