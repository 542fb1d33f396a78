"""Enqueueing: by the caller's commit, JSON only, within the interface of django.tasks."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import async_to_sync
from baton_messaging.models import FutureMessage, OutboxMessage
from baton_messaging.publish import cancel
from baton_messaging.tasks_backend import OutboxTask
from baton_messaging.tasks_backend.interface import InvalidTask, TaskResultDoesNotExist, signals
from django.db import transaction
from django.utils import timezone

from tests.chores.interface import task_backends
from tests.chores.tasks import add, elsewhere, greet

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_task_is_enqueued_by_the_commit_of_its_caller_or_not_at_all() -> None:
    with transaction.atomic():
        add.enqueue(1, second=2)
        transaction.set_rollback(True)
    assert not OutboxMessage.objects.exists()
    with transaction.atomic():
        result = add.enqueue(1, second=2)
    row = OutboxMessage.objects.get()
    assert (str(row.message_id), row.name, row.key) == (result.id, "chores.add", result.id)
    assert (row.payload["args"], row.payload["kwargs"]) == ([1], {"second": 2})


def test_outside_a_transaction_it_commits_its_own() -> None:
    result = add.enqueue(1)
    assert add.get_result(result.id).status == "READY"


def test_the_coroutines_of_the_interface_do_the_same() -> None:
    result = async_to_sync(add.aenqueue)(1)
    assert async_to_sync(add.aget_result)(result.id).args == [1]


@pytest.mark.parametrize("argument", [object(), {1, 2}, datetime(2100, 1, 1, tzinfo=timezone.get_default_timezone())])
def test_what_is_no_json_is_refused_in_one_sentence_and_nothing_is_stored(argument: Any) -> None:
    with pytest.raises(InvalidTask, match=r"Expected JSON as arguments of tests\.chores\.tasks\.add"):
        add.enqueue(argument)
    assert not OutboxMessage.objects.exists()


def test_a_task_for_later_is_a_message_in_the_future_that_can_be_cancelled() -> None:
    due_at = timezone.now() + timedelta(hours=1)
    result = add.using(run_after=due_at).enqueue(1)
    assert FutureMessage.objects.get().due_at == due_at
    assert add.get_result(result.id).status == "READY"
    assert cancel(UUID(result.id))
    assert add.get_result(result.id).status == "FAILED"


def test_a_queue_of_its_own_or_by_using_leads_to_that_queue() -> None:
    elsewhere.enqueue()
    add.using(queue_name="chores.bulk").enqueue(1)
    names = list(OutboxMessage.objects.order_by("pk").values_list("name", flat=True))
    assert names == ["chores.elsewhere", "chores.add_on_chores_bulk"]


@pytest.mark.parametrize(
    "changes",
    [
        {"priority": 5},
        {"queue_name": "nowhere"},
        {"queue_name": "parcels.bulk"},
        {"run_after": datetime(2100, 1, 1)},  # noqa: DTZ001 - it is the point
    ],
)
def test_what_the_backend_does_not_do_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidTask):
        add.using(**changes)


def test_what_it_can_is_said_truly() -> None:
    backend = task_backends["default"]
    assert (backend.supports_defer, backend.supports_async_task, backend.supports_get_result) == (True, True, True)
    assert not backend.supports_priority


def test_an_unknown_result_is_said_to_be_none() -> None:
    for unknown in (str(uuid4()), "no id at all", ""):
        with pytest.raises(TaskResultDoesNotExist):
            task_backends["default"].get_result(unknown)


def test_django_s_signal_tells_of_it() -> None:
    heard: list[str] = []

    def hear(task_result: Any, **_kwargs: Any) -> None:
        heard.append(task_result.id)

    signals.task_enqueued.connect(hear)
    result = greet.enqueue("Ann")
    assert heard == [result.id]


def test_the_task_class_is_the_backend_s_own() -> None:
    assert isinstance(add, OutboxTask)


def test_a_queue_that_baton_does_not_have_is_named_by_check() -> None:
    backend = type(task_backends["default"])("other", {"QUEUES": ["default", "nowhere"]})
    (found,) = backend.check()
    assert found.id == "baton.E801"
    assert "nowhere" in found.msg
