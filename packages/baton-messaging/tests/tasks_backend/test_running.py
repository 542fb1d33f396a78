"""Tasks on a real worker: their values, failures and states, as the interface of django.tasks tells them."""

import os
import signal
from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_dev.testing.processes import running, wait_until, worker_command
from baton_messaging.consumer import ConsumerTask
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.messages.bundle import Bundle
from baton_messaging.models import DeadLetter, OutboxMessage, ProcessedMessage, TaskReturn
from celery import current_app
from django.db import transaction

from tests.chores.tasks import add, answer_with_no_json, elsewhere, fail, greet, last, note, recover, whoami
from tests.sample.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def finished(result: Any) -> Any:
    """Wait until a task is finished; return its result."""

    def is_finished() -> bool:
        result.refresh()
        return bool(result.is_finished)

    wait_until(is_finished, what=f"{result.task.name} to finish")
    return result


@pytest.mark.usefixtures("relay", "worker")
def test_a_task_runs_and_its_value_comes_back() -> None:
    result = finished(add.enqueue(20, second=22))
    assert (result.status, result.return_value, result.errors) == ("SUCCESSFUL", 42, [])
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert result.attempts == 1
    assert "@" in result.worker_ids[0]


@pytest.mark.usefixtures("relay", "worker")
def test_coroutines_contexts_and_lanes_work() -> None:
    greeted, who, lane = greet.enqueue("Ann"), whoami.enqueue(), elsewhere.enqueue()
    assert finished(greeted).return_value == {"greeting": "hello Ann"}
    assert finished(who).return_value == [who.id, 1]
    assert finished(lane).return_value == "done"


@pytest.mark.usefixtures("relay", "worker")
def test_an_error_is_failed_with_its_class_and_traceback_and_a_dead_letter_with_an_owner() -> None:
    result = finished(fail.enqueue())
    assert result.status == "FAILED"
    (error,) = result.errors
    assert error.exception_class is ValueError
    assert "of no use" in error.traceback
    with pytest.raises(ValueError, match="failed"):
        assert result.return_value
    assert DeadLetter.objects.get(message_id=result.id).owner == "Warehouse team <warehouse@example.com>"
    (answer,) = triage(result.id).verdicts
    assert (answer.state, answer.owner_name) == ("dead", "Warehouse team")


@pytest.mark.usefixtures("relay", "worker")
def test_a_value_that_is_no_json_fails() -> None:
    result = finished(answer_with_no_json.enqueue())
    assert result.errors[0].exception_class is TypeError


@pytest.mark.usefixtures("relay", "worker")
def test_a_retry_is_ready_again_and_counts_as_an_attempt() -> None:
    result = finished(recover.enqueue())
    assert (result.status, result.return_value, result.attempts) == ("SUCCESSFUL", "recovered", 2)
    assert result.errors[0].exception_class_path == "baton_messaging.errors.TransientError"


@pytest.mark.usefixtures("relay")
def test_running_is_said_only_while_a_living_worker_has_it(tmp_path: Any) -> None:
    result = last.enqueue(60)
    with running(worker_command("chores"), log=tmp_path / "worker.log", ready="ready") as worker:
        wait_until(lambda: last.get_result(result.id).status == "RUNNING", what="the task to be taken up")
        os.killpg(worker.pid, signal.SIGKILL)
        wait_until(lambda: last.get_result(result.id).status == "READY", what="the worker to be missed")


def test_a_message_that_comes_twice_runs_once_with_its_effect_and_value() -> None:
    sample_id = str(uuid4())
    result = note.enqueue(sample_id)
    run_here(result.id)
    run_here(result.id)
    assert Effect.objects.filter(sample_id=UUID(sample_id)).count() == 1
    assert TaskReturn.objects.count() == ProcessedMessage.objects.count() == 1


def run_here(message_id: str) -> None:
    """Deliver the message as a worker does."""
    row = OutboxMessage.objects.get(message_id=message_id)
    task = current_app.tasks[row.name]
    assert isinstance(task, ConsumerTask)
    task(Bundle.of(row.name, [row.envelope()]).sealed)


def test_effect_value_and_inbox_row_are_one_commit() -> None:
    with transaction.atomic():
        result = note.enqueue(str(uuid4()))
    with transaction.atomic():
        run_here(result.id)
        assert TaskReturn.objects.exists()
        transaction.set_rollback(True)
    assert not any(model._default_manager.exists() for model in (TaskReturn, Effect, ProcessedMessage))
