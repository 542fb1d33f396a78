"""A result is stored with the task's own error: its traceback is written out as PostgreSQL can store it.

Of a task that raises text with NUL or a lone surrogate the server refused the row, and what was stored instead was that
refusal, without a traceback. The rest of a row is JSON, whose escapes the server takes.
"""

from typing import Any

from django.db.models.signals import pre_save
from django.dispatch import receiver

from baton_messaging.database.text import storable


@receiver(pre_save, sender="django_celery_results.TaskResult", dispatch_uid="baton_messaging.store_result")
def make_storable(instance: Any, **_kwargs: Any) -> None:
    """Write out what has no place in a text column."""
    for name in ("traceback", "result", "meta", "task_args", "task_kwargs"):
        if isinstance(value := getattr(instance, name), str):
            setattr(instance, name, storable(value))
