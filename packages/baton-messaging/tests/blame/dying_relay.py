"""A relay that is killed after the broker has confirmed a message and before it is marked; or breaks ("raise")."""

import os
import signal
import sys

import django
from django.core.management import call_command


def die(*_args: object, **_kwargs: object) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def fail(*_args: object, **_kwargs: object) -> list[object]:
    raise KeyError("RELAY_BATCH_SIZE")


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as manage.py has it
    django.setup()
    from baton_messaging.models.outbox import OutboxQuerySet

    if "raise" in sys.argv:
        OutboxQuerySet.claim = fail  # type: ignore[method-assign, assignment]
    else:
        OutboxQuerySet.mark_published = die  # type: ignore[method-assign]
    call_command("relay")
