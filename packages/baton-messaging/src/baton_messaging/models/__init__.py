"""The tables of the machinery. They are read-only outside this package; the admin shows them."""

from baton_messaging.database import lookups  # noqa: F401 - importing registers the lookup
from baton_messaging.models.attempt import Attempt
from baton_messaging.models.audit import AuditedLetter, AuditEntry
from baton_messaging.models.dead_letter import DeadLetter
from baton_messaging.models.flow_control import Circuit, Pause
from baton_messaging.models.group_alert import GroupAlert
from baton_messaging.models.heartbeat import Heartbeat
from baton_messaging.models.inbox import ProcessedMessage
from baton_messaging.models.interruption import Interruption
from baton_messaging.models.outbox import OutboxMessage
from baton_messaging.models.recovery import Recovery
from baton_messaging.models.replay import Replay
from baton_messaging.models.statistics import Minute, Rollup, Total

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
    "Rollup",
    "Total",
]
