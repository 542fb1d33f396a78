"""The tables of the machinery, with the verbs that change them.

The room is the platform's; outside the package the tables are read-only, and the admin shows them. It keeps the
promises by constraints and by UPDATEs whose WHERE names the state they leave: a message's effects happen once
(``baton_inbox_once_per_consumer``), and at most one unsettled dead letter stands for it.
"""

from baton_messaging.database import lookups  # noqa: F401 - importing registers the lookup
from baton_messaging.models.attempt import Attempt
from baton_messaging.models.audit import AuditedDeadLetter, AuditEntry
from baton_messaging.models.dead_letter import DeadLetter
from baton_messaging.models.expiry import Expiry
from baton_messaging.models.flow_control import Circuit, Pause
from baton_messaging.models.future_message import FutureMessage
from baton_messaging.models.group_alert import GroupAlert
from baton_messaging.models.health_check import HealthCheck
from baton_messaging.models.heartbeat import Heartbeat
from baton_messaging.models.inbox import ProcessedMessage
from baton_messaging.models.interruption import Interruption
from baton_messaging.models.outbox import OutboxMessage
from baton_messaging.models.recovery import Recovery
from baton_messaging.models.replay import Replay
from baton_messaging.models.statistics import Minute, Rollup, Total
from baton_messaging.models.task_return import TaskReturn

__all__ = [
    "Attempt",
    "AuditEntry",
    "AuditedDeadLetter",
    "Circuit",
    "DeadLetter",
    "Expiry",
    "FutureMessage",
    "GroupAlert",
    "HealthCheck",
    "Heartbeat",
    "Interruption",
    "Minute",
    "OutboxMessage",
    "Pause",
    "ProcessedMessage",
    "Recovery",
    "Replay",
    "Rollup",
    "TaskReturn",
    "Total",
]
