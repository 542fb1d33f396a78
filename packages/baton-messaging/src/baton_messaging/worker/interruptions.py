"""An interruption is noted for a task that gave no answer, so that its dead letter can say the cause.

Written by the worker's main process over a connection of its own that is closed at once: nothing stays open there that
a child could inherit (F21). A note that cannot be written costs nothing but itself.
"""

from typing import Any, Final

import structlog
from celery.signals import task_unknown

from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.database.text import storable
from baton_messaging.models.interruption import InterruptionKind

log = structlog.get_logger(__name__)

_INSERT: Final = """
    INSERT INTO baton_interruption (task_id, consumer, kind, detail, traceback, worker, seen_at)
    VALUES (%s, %s, %s, %s, %s, %s, clock_timestamp())
"""
_LENGTHS: Final = (200, 200, 20, 500, 20_000, 200)  # characters, in the order of the columns


def note(
    kind: InterruptionKind, *, task_id: str, consumer: str, worker: str, detail: str = "", traceback: str = ""
) -> None:
    """Write the note, or log that it could not be written."""
    values = [*map(_cut, (task_id, consumer, kind, detail, traceback, worker), _LENGTHS)]
    try:
        with dedicated_connection() as own, own.cursor() as cursor:
            cursor.execute(_INSERT, values)
    except Exception as error:  # whatever it is: the message itself is safe in the broker
        log.warning("interruption_not_noted", consumer=consumer, kind=str(kind), error_class=type(error).__name__)


def _cut(text: str, length: int) -> str:
    """Return what the column takes."""
    return storable(text)[:length]


@task_unknown.connect(dispatch_uid="baton_messaging.note_unknown_task")
def note_unknown_task(*, sender: Any, name: str, id: str, **_kwargs: Any) -> None:  # noqa: A002 - Celery's names
    """Note that this worker's release does not have the task; the collector's may."""
    note(
        InterruptionKind.UNKNOWN_TASK, task_id=str(id), consumer=str(name), worker=str(getattr(sender, "hostname", ""))
    )
