"""A durable backend for Django's own tasks (``django.tasks``): enqueued by the commit of the caller, and never lost.

    TASKS = {"default": {"BACKEND": "baton_messaging.tasks_backend.OutboxBackend"}}

A task is a consumer of one message: ``enqueue()`` publishes it, the body runs in a transaction with its inbox row, and
what fails for good is a dead letter. So it has an owner, a place in triage, board and desk, pauses and a circuit
breaker, like any consumer. Django 6 has the interface; on Django 5.2 the package ``django-tasks`` brings it, which the
extra ``tasks`` installs. docs/tasks.md says when to take a task, and when an event.

    task       the task class: Django's, and a Policy
    backend    validates, enqueues, and answers for results
    running    makes a function a consumer, and runs it
    results    puts a result together from outbox, inbox, attempts and dead letters
    interface  Django's own names, wherever they come from
"""

from baton_messaging.tasks_backend.backend import OutboxBackend
from baton_messaging.tasks_backend.task import OutboxTask

__all__ = ["OutboxBackend", "OutboxTask"]
