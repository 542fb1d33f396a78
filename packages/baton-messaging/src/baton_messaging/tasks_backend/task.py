"""The task class of the backend: Django's, with a policy for what a consumer may be told.

@task(policy=Policy(max_retries=3, time_limit=60))
def send_welcome(user_id: int) -> None: ...
"""

from dataclasses import dataclass

from baton_messaging.consumer import Policy
from baton_messaging.tasks_backend.interface import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxTask(Task):
    """A task whose options beside Django's are those of a consumer: retries, limits, ``atomic``, ``depends_on``.

    By default its body runs in one transaction with its inbox row, one message at a time.
    """

    policy: Policy | None = None
