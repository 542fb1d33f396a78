"""A relay that is killed after the broker has confirmed a message and before it is marked."""

import os
import signal
import sys

import django
from django.core.management import call_command


def die(*_args: object, **_kwargs: object) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as manage.py has it
    django.setup()
    from baton_messaging.models.outbox import OutboxQuerySet

    OutboxQuerySet.mark_published = die  # type: ignore[method-assign]
    call_command("relay")
