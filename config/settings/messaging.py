"""How messages travel: batch sizes, leases, retention. Every number with its unit and the reason beside it."""

from config.queues import QUEUES

MESSAGING = {
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
    # Seconds at least between two attempts, so that full jitter never gives 0 (F71).
    "RETRY_FLOOR_SECONDS": 1.0,
    # Days that settled rows are kept; the inbox must outlive whatever may still be delivered again.
    "OUTBOX_RETENTION_DAYS": 30,
    "INBOX_RETENTION_DAYS": 90,
    # Rows one DELETE of the pruning takes: short locks, little WAL at a time.
    "PRUNE_BATCH_SIZE": 1_000,
}
