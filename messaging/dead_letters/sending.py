"""How a replay reaches the relay, and how it is called back: rows of the relay's own tables, nothing else.

A letter becomes attempt 0 of a new round. The one exception is what the relay itself could not send because it did not
know the event: there the outbox row is put back.
"""

from typing import Final

from django.db import connection
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from messaging.dead_letters import RELAY
from messaging.dead_letters.settling import tell_settled
from messaging.models import Attempt, DeadLetter, OutboxMessage, Replay
from messaging.models.dead_letter import DeadLetterQuerySet, State
from messaging.wake import wake_relay_on_commit

_REQUEST: Final = """
    WITH requested AS (
        UPDATE messaging_deadletter
        SET state = 'requested', requested_at = clock_timestamp(), replay_count = replay_count + 1
        WHERE id = ANY(%(ids)s::bigint[]) AND state = 'open'
        RETURNING *
    )
    INSERT INTO messaging_attempt (
        message_id, consumer, round, attempt, key, envelope, error_class, error_message, traceback, worker, failed_at,
        due_at)
    SELECT message_id, consumer, 1 + coalesce(
            (SELECT max(earlier.round) FROM messaging_attempt AS earlier
             WHERE earlier.message_id = requested.message_id AND earlier.consumer = requested.consumer), 0),
        0, key, envelope, error_class, error_message, traceback, '', died_at,
        clock_timestamp() + (row_number() OVER (ORDER BY id) - 1) * %(gap_seconds)s * interval '1 second'
    FROM requested WHERE consumer <> %(relay)s
"""

# Also of an open one: another copy of its message may have died before this one was to be sent.
_WITHDRAW: Final = """
    WITH withdrawn AS (
        DELETE FROM messaging_attempt AS attempt
        USING messaging_deadletter AS letter
        WHERE letter.replay_id = %s AND letter.state IN ('open', 'requested')
          AND attempt.message_id = letter.message_id AND attempt.consumer = letter.consumer
          AND attempt.attempt = 0 AND attempt.sent_at IS NULL
          AND (attempt.claimed_until IS NULL OR attempt.claimed_until <= clock_timestamp())
        RETURNING letter.id
    )
    UPDATE messaging_deadletter AS letter SET state = 'open', requested_at = NULL
    FROM withdrawn WHERE letter.id = withdrawn.id AND letter.state IN ('open', 'requested')
    RETURNING letter.id
"""


def send_held(order: Replay, *, limit: int | None = None) -> list[int]:
    """Request the letters of a replay that are held back, oldest first; return their ids. Call in a transaction.

    Those that the inbox has by now are resolved instead: there is nothing to send.
    """
    held = order.letters.replayable().filter(requested_at=None).order_by("pk")
    letter_ids = held.lock(limit=limit)
    applied = dict(DeadLetter.objects.filter(pk__in=letter_ids).applied().values_list("pk", "key"))
    # Those, and none that the inbox gets meanwhile: nobody would be told of it.
    DeadLetter.objects.filter(pk__in=applied).update(state=State.RESOLVED, settled_at=Now(), requested_at=Now())
    tell_settled(applied.values())
    _put_back_into_outbox(letter_ids)
    with connection.cursor() as cursor:
        gap_seconds = 1 / order.rate_per_second if order.rate_per_second else 0
        cursor.execute(_REQUEST, {"ids": letter_ids, "gap_seconds": gap_seconds, "relay": RELAY})
    wake_relay_on_commit()
    return letter_ids


def withdraw_unsent(replay_id: int) -> list[int]:
    """Call back what the relay has not taken yet, and forget what was held back; return the ids."""
    held = list(DeadLetter.objects.filter(replay=replay_id).open().filter(requested_at=None).lock())
    with connection.cursor() as cursor:
        cursor.execute(_WITHDRAW, [replay_id])
        return sorted({*held, *(letter_id for (letter_id,) in cursor.fetchall())})


def call_back(letters: DeadLetterQuerySet) -> None:
    """Let nothing more leave of the messages of letters, but for what a relay has in hand at this moment."""
    same = letters.filter(message_id=OuterRef("message_id"), consumer=OuterRef("consumer"))
    Attempt.objects.unclaimed().filter(Exists(same)).delete()


def _put_back_into_outbox(letter_ids: list[int]) -> None:
    for letter in DeadLetter.objects.filter(pk__in=letter_ids, consumer=RELAY).open():
        row = OutboxMessage.of(letter.open_envelope())
        again = OutboxMessage.objects.filter(message_id=row.message_id)
        if not again.update(published_at=None, settled_at=None, send_failure_count=0, available_at=Now()):
            row.save(force_insert=True)
