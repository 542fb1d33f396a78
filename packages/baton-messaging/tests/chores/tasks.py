"""Tasks of django.tasks, each for one thing that may happen."""

import time
from typing import Any

from baton_messaging.consumer import Policy
from baton_messaging.errors import TransientError
from baton_messaging.models import Attempt
from django.db import connection

from tests.chores.interface import task


@task
def add(first: int, second: int = 1) -> int:
    """Add two numbers."""
    return first + second


@task
def note(sample_id: str) -> None:
    """Leave an effect in the database."""
    with connection.cursor() as cursor:  # a table where a doubled effect is a doubled row
        cursor.execute("INSERT INTO sample_effect (consumer, sample_id) VALUES ('chores.note', %s)", [sample_id])


@task
async def greet(name: str) -> dict[str, Any]:
    """Greet, as a coroutine."""
    return {"greeting": f"hello {name}"}


@task(takes_context=True)
def whoami(context: Any) -> list[Any]:
    """Return what the context says."""
    return [context.task_result.id, context.attempt]


@task(queue_name="chores.bulk")
def elsewhere() -> str:
    """Run in a lane."""
    return "done"


@task
def fail() -> None:
    """Fail for good."""
    raise ValueError("of no use")


@task(policy=Policy(max_retries=2, retry_backoff=0))  # type: ignore[call-overload]  # the stubs have none of its own
def recover() -> str:
    """Fail once."""
    if not Attempt.objects.filter(consumer="chores.recover").exists():
        raise TransientError("not yet")
    return "recovered"


@task
def answer_with_no_json() -> object:
    """Return what cannot be kept."""
    return object()


@task
def last(seconds: float) -> None:
    """Take a while."""
    time.sleep(seconds)
