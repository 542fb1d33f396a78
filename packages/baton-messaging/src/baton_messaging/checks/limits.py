"""Limits that contradict each other: of a consumer, of the retries, of the broker, of what is kept."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from celery import current_app
from django.core.checks import CheckMessage

from baton_messaging.broker.options import BadTransportOptions
from baton_messaging.broker.options import check as check_transport_options
from baton_messaging.checks.objections import objection
from baton_messaging.conf import baton
from baton_messaging.consumer import ConsumerTask, consumer_tasks
from baton_messaging.processes.backoff import backoff_seconds

SECONDS_PER_DAY: Final = 86_400
#: Settings that must grow from left to right.
ASCENDING: Final = (
    ("RELAY_POLL_SECONDS", "RELAY_LEASE_SECONDS"),
    ("BREAKER_PROBE_SECONDS", "BREAKER_MAX_PROBE_SECONDS", "BREAKER_GRACE_SECONDS"),
    ("OUTBOX_RETENTION_DAYS", "INBOX_RETENTION_DAYS"),
    ("DEAD_LETTER_RETENTION_DAYS", "INBOX_RETENTION_DAYS"),
)


def check_time_limits(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse limits of a consumer that leave no time: for recording a failure, for an outage, for the broker."""
    return [message for task in consumer_tasks() for message in _of_task(task)]


def _of_task(task: ConsumerTask) -> Iterator[CheckMessage]:
    soft, hard = task.soft_time_limit, task.time_limit
    if soft >= hard:
        text = f"{task.name}: expected soft_time_limit < time_limit, got {soft} s and {hard} s."
        yield objection("E005", text, hint="Leave some seconds between them: in these the failure is recorded.")
    timeout = baton().broker_consumer_timeout_seconds
    if hard >= timeout:
        text = f"{task.name}: expected time_limit < BROKER_CONSUMER_TIMEOUT_SECONDS, got {hard} s and {timeout} s."
        hint = (
            "RabbitMQ would give the message to another worker: lower the limit, or raise consumer_timeout and setting."
        )
        yield objection("E008", text, hint=hint)
    wait = baton().database_wait_seconds
    if wait >= hard:
        text = f"{task.name}: expected DATABASE_WAIT_SECONDS < time_limit, got {wait} s and {hard} s."
        yield objection("E010", text, hint="An outage of the database would kill the child and count as a delivery.")
    if task.retry_backoff_max < baton().retry_floor_seconds:
        text = f"{task.name}: expected retry_backoff_max >= RETRY_FLOOR_SECONDS, got {task.retry_backoff_max} s."
        yield objection("E010", text, hint="The ceiling of the backoff lies below its floor.")
    days = baton().inbox_retention_days
    if retry_window_seconds(task) >= days * SECONDS_PER_DAY:
        text = f"{task.name}: expected retries to end within INBOX_RETENTION_DAYS ({days}), got {task.max_retries}."
        yield objection("E009", text, hint="Later ones find no inbox row: lower max_retries or retry_backoff_max.")


def retry_window_seconds(task: ConsumerTask) -> float:
    """Return the longest time between the first attempt and the last, without outages."""
    base, maximum = float(task.retry_backoff), task.retry_backoff_max
    return sum(
        backoff_seconds(attempt, base=base, maximum=maximum, jitter=False)
        for attempt in range(1, int(task.max_retries) + 1)
    )


def check_settings_against_each_other(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse settings of BATON that are not in their order."""
    return [
        objection(
            "E006",
            f"Expected {smaller} < {larger}, got {value_of(smaller):g} and {value_of(larger):g}.",
            hint="The inbox makes a second delivery or a replay harmless, so it must outlive both; a lease and a "
            "grace must outlast what they wait for.",
        )
        for names in ASCENDING
        for smaller, larger in pairwise(names)
        if value_of(smaller) >= value_of(larger)
    ]


def value_of(key: str) -> float:
    """Return the value of a key of ``BATON`` that holds a number."""
    return float(getattr(baton(), key.lower()))


def check_lease(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse options of the Redis transport that would run tasks twice (F02)."""
    try:
        check_transport_options(current_app.conf.broker_transport_options)
    except BadTransportOptions as error:
        return [objection("E007", str(error), hint="A lease is renewed three times before it can run out.")]
    return []
