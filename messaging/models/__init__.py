"""The tables of the machinery. They are read-only outside this package; the admin shows them."""

from messaging.models.attempt import Attempt
from messaging.models.dead_letter import DeadLetter
from messaging.models.outbox import OutboxMessage
from messaging.models.processed import ProcessedMessage

__all__ = ["Attempt", "DeadLetter", "OutboxMessage", "ProcessedMessage"]
