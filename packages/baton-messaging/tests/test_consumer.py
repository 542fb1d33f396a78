"""A consumer takes its options from its decorator, then from its policy, then from ConsumerTask."""

from pathlib import Path
from typing import Any

import pytest
from baton_messaging.consumer import ConsumerTask, Policy
from baton_messaging.routing.subscriptions import subscription_named
from celery import current_app

from tests.checks.shipping import shipping

TASKS = """
from baton_messaging.consumer import Policy, consumer
from shipping.events import LabelWanted

SLOW = Policy(bundle_size=1, max_retries=24, retry_backoff=7, queue="shipping")

@consumer(LabelWanted, policy=SLOW)
def print_label(event): ...

@consumer(LabelWanted, policy=SLOW, max_retries=3)
def burn_label(event): ...
"""


def test_a_policy_gives_the_options_that_the_decorator_does_not(tmp_path: Path) -> None:
    with shipping(tmp_path, tasks=TASKS):
        tasks: Any = current_app.tasks
        by_policy, by_decorator = tasks["shipping.print_label"], tasks["shipping.burn_label"]
        assert (by_policy.max_retries, by_policy.retry_backoff, by_policy.bundle_size) == (24, 7, 1)
        assert (by_decorator.max_retries, by_decorator.retry_backoff, by_decorator.bundle_size) == (3, 7, 1)
        assert by_policy.time_limit == ConsumerTask.time_limit
        subscription = subscription_named("shipping.print_label")
        assert subscription is not None
        assert (subscription.queue, subscription.bundle_size, subscription.max_attempts) == ("shipping", 1, 25)


def test_what_is_no_option_is_refused() -> None:
    with pytest.raises(TypeError, match="hard_limit"):
        Policy(hard_limit=60)
