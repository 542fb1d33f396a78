"""Django's decorator, wherever it comes from."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.tasks import task, task_backends
else:
    try:
        from django.tasks import task, task_backends
    except ImportError:
        from django_tasks import task, task_backends

__all__ = ["task", "task_backends"]
