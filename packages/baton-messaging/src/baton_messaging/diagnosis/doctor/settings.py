"""Settings examined against each other and against the broker's: without asking a server."""

from collections.abc import Iterator
from typing import Any

from celery import current_app
from django.core import checks

from baton_messaging.broker.options import RENEWALS_PER_LEASE
from baton_messaging.conf import baton
from baton_messaging.consumer import consumer_tasks
from baton_messaging.diagnosis.doctor.examination import Observation, duration, examines, observed


@examines("system checks", deadline_seconds=15)  # no server is waited for: it is this machine that may be busy
def examine_settings() -> Iterator[Observation]:
    """Run ``manage.py check``: the code's own contradictions."""
    found = [message for message in checks.run_checks() if message.is_serious()]
    names = ", ".join(sorted({str(message.id) for message in found}))
    yield observed(
        not found,
        "system checks",
        found=names or "no objection",
        wanted="no objection",
        remedy="Run: python manage.py check",
    )


@examines("lease and time limits")
def examine_limits() -> Iterator[Observation]:
    """Compare the broker's timeout with the longest hard limit (F02, F41)."""
    name, limit = _longest_limit()
    options: dict[str, Any] = current_app.conf.broker_transport_options
    if "visibility_timeout" not in options:
        timeout = baton().broker_consumer_timeout_seconds
        yield observed(
            limit < timeout,
            "consumer timeout of the broker",
            found=f"{duration(timeout)} (BROKER_CONSUMER_TIMEOUT_SECONDS)",
            wanted=f"more than {duration(limit)}, the hard limit of {name}",
            remedy="Raise RabbitMQ's consumer_timeout and the setting: the message would be given to a second worker.",
        )
        return
    timeout, renewal = options["visibility_timeout"], options["lease_renewal_seconds"]
    yield observed(
        renewal * RENEWALS_PER_LEASE <= timeout,
        "lease of a running task",
        found=f"visibility timeout {duration(timeout)}, renewed every {duration(renewal)}",
        wanted=f"{RENEWALS_PER_LEASE} renewals or more per timeout; no limit on how long a task runs",
        remedy="Change lease_renewal_seconds: running tasks would run a second time.",
    )


def _longest_limit() -> tuple[str, float]:
    limits = [(float(task.time_limit), str(task.name)) for task in consumer_tasks()]
    limit, name = max(limits, default=(0.0, "no consumer"))
    return name, limit
