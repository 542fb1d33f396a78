"""Lost messages leave again by the relay's door for retries, and are counted.

A retry that was lost is unsent again; a first delivery becomes attempt 0 of round 0, as if it had been held back
(flow_control/parking.py). Both demand that nothing has happened to the message since it was found: two reconcilers
at once send it once, and what has died meanwhile does not kill again.
"""

import json
from collections.abc import Sequence
from typing import Final

from django.db import connection, transaction

from baton_messaging.database.outbox_notify import notify_relay_on_commit
from baton_messaging.messages.position import HAS_DEAD_LETTER, PROCESSED, REPLAY_REQUESTED
from baton_messaging.recovery.loss_rule import SENT_AGAIN
from baton_messaging.recovery.losses import Loss

_RETRIES: Final = f"""
    UPDATE baton_attempt AS attempt
    SET sent_at = NULL, claimed_until = NULL, due_at = clock_timestamp()
    FROM json_to_recordset(%(lost)s) AS lost (id bigint, sent_at timestamptz)
    WHERE attempt.id = lost.id AND attempt.sent_at = lost.sent_at
      AND NOT EXISTS (
        SELECT 1 FROM baton_attempt AS later
        WHERE later.message_id = attempt.message_id AND later.consumer = %(consumer)s
          AND (later.round, later.attempt) > (attempt.round, attempt.attempt))
      AND NOT {PROCESSED.format(message="attempt")}
      AND (NOT {HAS_DEAD_LETTER.format(message="attempt")} OR {REPLAY_REQUESTED.format(message="attempt")})
"""  # noqa: S608 - put together of constants

_FIRST_DELIVERIES: Final = f"""
    INSERT INTO baton_attempt (
        message_id, consumer, round, attempt, key, envelope, error_class, error_message, traceback, worker, due_at)
    SELECT message_id, %(consumer)s, 0, 0, key, envelope, %(error_class)s, proof, '', '', clock_timestamp()
    FROM json_to_recordset(%(lost)s) AS lost (message_id uuid, key text, envelope jsonb, proof text)
    WHERE NOT EXISTS (
        SELECT 1 FROM baton_attempt AS attempt
        WHERE attempt.message_id = lost.message_id AND attempt.consumer = %(consumer)s)
      AND NOT {PROCESSED.format(message="lost")}
      AND NOT {HAS_DEAD_LETTER.format(message="lost")}
    ORDER BY message_id
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - put together of constants

_COUNT: Final = """
    INSERT INTO baton_recovery AS recovery (consumer, message_count, recovered_at)
    VALUES (%s, %s, clock_timestamp())
    ON CONFLICT (consumer) DO UPDATE
    SET message_count = recovery.message_count + excluded.message_count, recovered_at = excluded.recovered_at
"""


def send_again(consumer: str, losses: Sequence[Loss]) -> int:
    """Let the relay send the lost messages of a consumer; return how many this call brought on their way."""
    retries = [{"id": loss.attempt_id, "sent_at": loss.sent_at.isoformat()} for loss in losses if loss.attempt_id]
    first = [
        {
            "message_id": str(loss.message_id),
            "key": loss.key,
            "envelope": loss.envelope,
            "proof": loss.proof,
        }
        for loss in losses
        if loss.envelope is not None
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_RETRIES, {"consumer": consumer, "lost": json.dumps(retries)})
        count = cursor.rowcount
        cursor.execute(_FIRST_DELIVERIES, {"consumer": consumer, "lost": json.dumps(first), "error_class": SENT_AGAIN})
        count += cursor.rowcount
        if count:
            cursor.execute(_COUNT, [consumer, count])
            notify_relay_on_commit()
    return int(count)
