"""Workers are asked over the broker who they are, wherever their database is: our inspect command ``baton_wiring``.

Bounded: each worker answers within a moment or not at all; on Redis nothing stays behind of an asker that is killed
(broker/redis/routing.py), on RabbitMQ its queue goes with its connection.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import kombu
from celery import current_app


@dataclass(frozen=True)
class WorkerAnswer:
    """What one worker says of itself. Without queues it is none of Baton's, or of an older release."""

    name: str
    pid: int | None = None
    hostname: str = ""
    uptime_seconds: float = 0
    queues: tuple[str, ...] = ()
    database: str = ""
    wiring: dict[str, Any] = field(default_factory=dict, hash=False)


def ask_workers(broker: kombu.Connection, *, names: Sequence[str] | None, seconds: float) -> list[WorkerAnswer]:
    """Return what the workers answer, those of the given names or all. Raises the broker's errors.

    ``seconds`` is what is waited for the next answer; with names, no longer than for as many answers.
    """
    control: Any = current_app.control
    mailbox = control.mailbox(broker)
    mailbox.producer_pool = None  # the application's: of another connection, perhaps to another broker
    arguments = {"destination": list(names)} if names is not None else {}
    answers = mailbox._broadcast("baton_wiring", reply=True, timeout=seconds, **arguments) or []
    return [_read(name, said) for answer in answers for name, said in answer.items()]


def _read(name: str, said: Any) -> WorkerAnswer:
    if not isinstance(said, dict) or "queues" not in said:
        return WorkerAnswer(str(name))
    return WorkerAnswer(
        name=str(name),
        pid=said["pid"],
        hostname=str(said["hostname"]),
        uptime_seconds=float(said["uptime_seconds"] or 0),
        queues=tuple(said["queues"]),
        database=str(said["database"]),
        wiring=said["wiring"],
    )
