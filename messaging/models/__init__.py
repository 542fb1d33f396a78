"""The tables of the machinery. They are read-only outside this package; the admin shows them."""

from messaging.models import any_of  # noqa: F401 - importing registers the lookup
from messaging.models.attempt import Attempt
from messaging.models.audit import AuditedLetter, AuditEntry
from messaging.models.dead_letter import DeadLetter
from messaging.models.flow import Circuit, Pause
from messaging.models.group_alert import GroupAlert
from messaging.models.heartbeat import Heartbeat
from messaging.models.interruption import Interruption
from messaging.models.outbox import OutboxMessage
from messaging.models.processed import ProcessedMessage
from messaging.models.recovery import Recovery
from messaging.models.replay import Replay
from messaging.models.statistics import Minute, Tallying, Total

__all__ = [
    "Attempt",
    "AuditEntry",
    "AuditedLetter",
    "Circuit",
    "DeadLetter",
    "GroupAlert",
    "Heartbeat",
    "Interruption",
    "Minute",
    "OutboxMessage",
    "Pause",
    "ProcessedMessage",
    "Recovery",
    "Replay",
    "Tallying",
    "Total",
]
