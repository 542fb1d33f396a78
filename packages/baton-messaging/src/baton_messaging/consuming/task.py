"""A consumer's Celery task has what this room asks of it: ``ConsumerTask``, which calls ``deliver``, fulfils it."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from baton_messaging.events import Event


class Task(Protocol):
    """One consumer: its name, its handler, its limits."""

    name: str
    event: ClassVar[type[Event]]
    handler: Callable[[Any], None]
    bundle: bool
    atomic: bool

    autoretry_for: ClassVar[tuple[type[BaseException], ...]]
    dont_autoretry_for: ClassVar[tuple[type[BaseException], ...]]
    max_retries: int
    retry_backoff: float  # seconds
    retry_backoff_max: float  # seconds
    retry_jitter: bool

    @property
    def request(self) -> Any:
        """Return Celery's context of the delivery that is worked on."""
