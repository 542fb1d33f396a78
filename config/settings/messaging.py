"""How messages travel: batch sizes, leases, retention. Every number with its unit and the reason beside it."""

from typing import Any

from config.env import Environment, env
from config.queues import QUEUES

# Variables that somebody reads: any other with a prefix of ours is refused as a typo (baton.E003).
KNOWN_VARIABLES = tuple(Environment.model_fields)

MESSAGING: dict[str, Any] = {
    "QUEUES": QUEUES,
    # Outbox rows one relay claims in one statement: enough to fill bundles, few enough to send within the lease.
    "RELAY_BATCH_SIZE": 1_000,
    # Seconds until another relay may take over rows whose relay died or hangs (F45).
    "RELAY_LEASE_SECONDS": 30,
    # Seconds between looks at the outbox when no NOTIFY arrives: pooled connections and due retries rely on it.
    "RELAY_POLL_SECONDS": 1.0,
    # Messages that fail to send for a reason of their own (not the broker's) before they are set aside.
    "RELAY_MAX_SEND_FAILURES": 5,
    # Seconds a consumer waits for a database that is away before it hands the message back unchanged.
    "DATABASE_WAIT_SECONDS": 10,
    # Seconds after which RabbitMQ takes a message away from the worker that has it: its consumer_timeout. Every hard
    # time limit must be shorter (baton.E008).
    "BROKER_CONSUMER_TIMEOUT_SECONDS": 1_800,
    # Database connections that the web processes may hold, one per thread; `manage.py doctor` adds them up.
    "WEB_CONNECTION_COUNT": env.WEB_PROCESSES * env.WEB_THREADS,
    # Seconds at least between two attempts, so that full jitter never gives 0 (F71).
    "RETRY_FLOOR_SECONDS": 1.0,
    # Circuit breaker of each consumer: messages that all failed on transient errors before it opens; seconds until the
    # first trial, doubled with each that fails, and at most; seconds after which trials cost attempts again, so that a
    # message which is itself at fault does not circle for ever.
    "BREAKER_MESSAGE_COUNT": 3,
    "BREAKER_PROBE_SECONDS": 5,
    "BREAKER_MAX_PROBE_SECONDS": 60,
    "BREAKER_PATIENCE_SECONDS": 6 * 3_600,
    # Days that settled rows are kept; the inbox must outlive whatever may still be delivered again.
    "OUTBOX_RETENTION_DAYS": 30,
    "INBOX_RETENTION_DAYS": 90,
    # Days that figures per minute are kept: for the board's charts. The totals of /metrics stay.
    "MINUTE_RETENTION_DAYS": 8,
    # Days that results of scheduled and long tasks are kept.
    "RESULT_RETENTION_DAYS": 14,
    # Days that a settled dead letter is kept; until then what was discarded can be restored.
    "DEAD_LETTER_RETENTION_DAYS": 30,
    # Alerts: seconds between two about the same group, and the counts at which a growing one is told again.
    "ALERT_PERIOD_SECONDS": 3_600,
    "ALERT_GROWTH_COUNTS": (10, 100, 1_000, 10_000),
    # Seconds after which a dead letter that nobody has looked at is told, and told again.
    "ALERT_AGE_SECONDS": 86_400,
    # Where the alerts' links lead, as in https://shop.example.com. Empty: they name the path only.
    "DESK_ORIGIN": "",
    # Messages that a replay sends first and watches, and how many a second leave after that.
    "REPLAY_CANARY_COUNT": 3,
    "REPLAY_RATE_PER_SECOND": 50,
    # Seconds between two signs of life of a process, and after how many without one it counts as dead: four missed.
    "HEARTBEAT_SECONDS": 5,
    "HEARTBEAT_STALE_SECONDS": 20,
    # Seconds after it was sent until a message may count as lost: longer than a handler's hard limit, so that a
    # transaction which is just being committed is not taken for one that never began.
    "RECONCILE_GRACE_SECONDS": 60,
    # Rows one DELETE of the pruning takes: short locks, little WAL at a time.
    "PRUNE_BATCH_SIZE": 1_000,
}
