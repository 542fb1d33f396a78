"""Messages are parked in the database until what holds them is over: no attempt counts, no place in the broker is used.

A parked message is its own last row of ``Attempt``, unsent again; one that was never tried gets attempt 0. The relay's
door for retries sends it when nothing holds it any more. A copy of a message parks it once.
"""

import json
from collections.abc import Sequence
from typing import Final

import structlog
from django.db import connection

from baton_messaging.messages.envelope import Envelope

log = structlog.get_logger(__name__)

# `due_at` becomes now: whoever waited longest leaves first, and a probe that failed goes to the back.
_PARK: Final = """
    WITH held AS (
        SELECT * FROM json_to_recordset(%(held)s) AS row (message_id uuid, key text, envelope jsonb)
    ), latest AS (
        SELECT DISTINCT ON (attempt.message_id) attempt.id, attempt.message_id
        FROM baton_attempt AS attempt JOIN held USING (message_id)
        WHERE attempt.consumer = %(consumer)s
        ORDER BY attempt.message_id, attempt.round DESC, attempt.attempt DESC
    ), again AS (
        UPDATE baton_attempt AS attempt
        SET sent_at = NULL, claimed_until = NULL, due_at = clock_timestamp()
        FROM latest WHERE attempt.id = latest.id
    )
    INSERT INTO baton_attempt (
        message_id, consumer, round, attempt, key, envelope, error_class, error_message, traceback, worker, due_at)
    SELECT message_id, %(consumer)s, 0, 0, key, envelope, '', '', '', '', clock_timestamp()
    FROM held WHERE message_id NOT IN (SELECT message_id FROM latest)
    ORDER BY message_id
    ON CONFLICT DO NOTHING
"""


def park(consumer: str, envelopes: Sequence[Envelope]) -> None:
    """Let the messages wait for ``consumer``, in one statement. Part of the caller's transaction, if there is one."""
    if not envelopes:
        return
    held = [
        {"message_id": str(envelope.message_id), "key": envelope.key, "envelope": envelope.as_dict()}
        for envelope in envelopes
    ]
    with connection.cursor() as cursor:
        cursor.execute(_PARK, {"consumer": consumer, "held": json.dumps(held)})
    log.info("parked", consumer=consumer, message_count=len(held))
