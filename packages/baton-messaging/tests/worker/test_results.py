"""The result of a task that fails is its own error, whatever text that has."""

import json

import pytest
from baton_dev.testing.processes import Process, wait_until
from celery import current_app
from django_celery_results.models import TaskResult

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]


@pytest.mark.parametrize("text", ["a NUL \x00 inside", "a surrogate \ud800 inside"], ids=["nul", "surrogate"])
def test_an_error_with_text_that_postgresql_refuses_is_stored_with_its_traceback(worker: Process, text: str) -> None:
    task_id = current_app.send_task("sample.raise_text", [json.dumps(text)], queue="sample").id
    stored = TaskResult.objects.filter(task_id=task_id, status="FAILURE")
    wait_until(stored.exists, what="the stored failure")
    result = stored.get()
    assert json.loads(result.result)["exc_type"] == "ValueError"
    assert json.loads(result.result)["exc_message"] == [text]
    assert "raise ValueError(json.loads(text))" in result.traceback
