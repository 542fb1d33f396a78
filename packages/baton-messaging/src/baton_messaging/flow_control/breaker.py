"""The circuit breaker of a consumer opens when what it depends on fails, so that the dead letters do not fill up.

    closed ──the last BREAKER_MESSAGE_COUNT messages all failed on transient errors──▶ open
    open ──a probe is due: half-open, one message at a time; the others are parked──▶ closed if it succeeds, else open

Invariant: while a circuit is open a transient failure costs no attempt, for BREAKER_GRACE_SECONDS. After that it
does again, so that a message which is itself at fault does not circle for ever. What succeeds pays nothing: the relay
looks for the inbox row of the probe, and only while some circuit is open.
"""

from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.flow_control.parking import park
from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Circuit
from baton_messaging.processes.backoff import backoff_seconds

log = structlog.get_logger(__name__)

LOOK_BACK: Final = 10  # attempts looked at per message counted: one message may have failed several times in between

# A success is an inbox row, a failure of another kind a dead letter: either after those failures, and nothing is open.
_OPEN: Final = """
    INSERT INTO baton_circuit (consumer, opened_at, error_class, probe_count, next_probe_at)
    SELECT %(consumer)s, clock_timestamp(), %(error_class)s, 0, clock_timestamp() + %(delay)s
    FROM (
        SELECT min(failed_at) AS since FROM (
            SELECT message_id, max(failed_at) AS failed_at FROM (
                SELECT message_id, failed_at FROM baton_attempt
                WHERE consumer = %(consumer)s AND attempt > 0
                ORDER BY failed_at DESC LIMIT %(look_back)s
            ) AS recent
            GROUP BY message_id ORDER BY max(failed_at) DESC LIMIT %(count)s
        ) AS last_messages
        HAVING count(*) = %(count)s
    ) AS failures
    WHERE NOT EXISTS (
        SELECT 1 FROM baton_inbox
        WHERE consumer = %(consumer)s AND processed_at >= failures.since
    ) AND NOT EXISTS (
        SELECT 1 FROM baton_dead_letter
        WHERE consumer = %(consumer)s AND died_at >= failures.since AND reason <> 'retries_spent'
    )
    ON CONFLICT (consumer) DO UPDATE
    SET opened_at = excluded.opened_at, error_class = excluded.error_class, probe_count = 0, probe_message_id = NULL,
        probe_sent_at = NULL, next_probe_at = excluded.next_probe_at
    WHERE baton_circuit.opened_at IS NULL
    RETURNING 1
"""


def absorb(consumer: str, envelope: Envelope, *, error_class: str) -> bool:
    """Take a transient failure while the circuit is open: the message is parked. False when it is to count as usual.

    Call inside a transaction.
    """
    circuit = Circuit.objects.open().filter(consumer=consumer).first()
    if circuit is None:
        return False
    if circuit.probe_message_id == envelope.message_id:
        _fail_probe(circuit, error_class)
    if circuit.has_been_open_for(timezone.now()) > baton().breaker_grace_seconds:
        return False
    park(consumer, [envelope])
    return True


def note_transient_failure(consumer: str, *, error_class: str) -> None:
    """Open the circuit if that was one too many. Call inside the transaction that records the failure.

    It looks after the commit, when the failures of all workers are there to be seen and no lock is held. A worker
    that dies in between leaves it to the next failure.
    """
    # No partial: Django 5.2 cannot log the failure of a hook without a __qualname__, and fails itself.
    transaction.on_commit(lambda: _open_if_due(consumer, error_class), robust=True)


def _open_if_due(consumer: str, error_class: str) -> None:
    count = baton().breaker_message_count
    arguments: dict[str, Any] = {
        "consumer": consumer,
        "error_class": error_class,
        "count": count,
        "look_back": count * LOOK_BACK,
        "delay": timedelta(seconds=baton().breaker_probe_seconds),
    }
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, arguments)
        if cursor.fetchone():
            log.error("circuit_opened", consumer=consumer, error_class=error_class, message_count=count)


def _fail_probe(circuit: Circuit, error_class: str) -> None:
    delay_seconds = probe_delay_seconds(circuit.probe_count + 1)
    probed = Circuit.objects.open().filter(pk=circuit.pk, probe_message_id=circuit.probe_message_id)
    probed.update(
        probe_message_id=None,
        probe_sent_at=None,
        probe_count=F("probe_count") + 1,
        error_class=error_class,
        next_probe_at=Now() + timedelta(seconds=delay_seconds),
    )
    log.warning(
        "probe_failed", consumer=circuit.consumer, error_class=error_class, again_in_seconds=round(delay_seconds, 1)
    )


def probe_delay_seconds(failed_count: int) -> float:
    """Return the seconds until the next probe: BREAKER_PROBE_SECONDS, doubled with each that failed, to the maximum."""
    config = baton()
    return backoff_seconds(
        failed_count + 1, base=config.breaker_probe_seconds, maximum=config.breaker_max_probe_seconds, jitter=False
    )
