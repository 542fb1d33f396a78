"""Rows of the relay's own tables send a replay, and call it back; nothing else does.

A dead letter becomes attempt 0 of a new round. The one exception is what the relay itself could not send because it did
not know the event: there the outbox row is put back, to leave in its turn. Both can be called back until a relay has
them.
"""

from typing import Final

from django.db import connection
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from baton_messaging.database.outbox_notify import notify_relay_on_commit
from baton_messaging.dead_letters.operations.resolve import tell_settled
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, Replay
from baton_messaging.models.dead_letter import RELAY, DeadLetterQuerySet, State, worker_of_message

# Of an unknown event: whatever else the row tells of its earlier sendings stays, as who has had a copy.
_REQUEST: Final = """
    WITH paced AS (
        SELECT id, clock_timestamp()
            + (row_number() OVER (ORDER BY id) - 1) * %(gap_seconds)s * interval '1 second' AS due_at
        FROM baton_dead_letter WHERE id = ANY(%(ids)s::bigint[]) AND state = 'open'
    ), requested AS (
        UPDATE baton_dead_letter AS dead_letter
        SET state = 'requested', requested_at = clock_timestamp(), due_at = paced.due_at,
            replay_count = replay_count + 1
        FROM paced WHERE dead_letter.id = paced.id AND dead_letter.state = 'open'
        RETURNING dead_letter.*
    ), put_back AS (
        UPDATE baton_outbox AS message
        SET published_at = NULL, settled_at = NULL, send_failure_count = 0, last_error = '',
            available_at = requested.due_at
        FROM requested WHERE requested.consumer = %(relay)s AND message.message_id = requested.message_id
    )
    INSERT INTO baton_attempt (
        message_id, consumer, round, attempt, key, envelope, error_class, error_message, traceback, worker, failed_at,
        due_at)
    SELECT message_id, consumer, 1 + coalesce(
            (SELECT max(earlier.round) FROM baton_attempt AS earlier
             WHERE earlier.message_id = requested.message_id AND earlier.consumer = requested.consumer), 0),
        0, key, envelope, error_class, error_message, traceback, '', died_at, due_at
    FROM requested WHERE consumer <> %(relay)s
"""

# Also of an open one: another copy of its message may have died before this one was to be sent.
_WITHDRAW: Final = """
    WITH withdrawn AS (
        DELETE FROM baton_attempt AS attempt
        USING baton_dead_letter AS dead_letter
        WHERE dead_letter.replay_id = %s AND dead_letter.state IN ('open', 'requested')
          AND attempt.message_id = dead_letter.message_id AND attempt.consumer = dead_letter.consumer
          AND attempt.attempt = 0 AND attempt.sent_at IS NULL
          AND (attempt.claimed_until IS NULL OR attempt.claimed_until <= clock_timestamp())
        RETURNING dead_letter.id
    )
    UPDATE baton_dead_letter AS dead_letter SET state = 'open', requested_at = NULL
    FROM withdrawn WHERE dead_letter.id = withdrawn.id AND dead_letter.state IN ('open', 'requested')
    RETURNING dead_letter.id
"""


# As it was: published, as far as the relay could, when the dead letter came. A row is in a relay's hand if it is
# locked, or if its moment is another one than we have set and is still to come; a claim always sets a later moment.
_TAKE_BACK: Final = """
    WITH waiting AS (
        SELECT message.id, dead_letter.id AS letter_id, dead_letter.died_at
        FROM baton_dead_letter AS dead_letter JOIN baton_outbox AS message USING (message_id)
        WHERE dead_letter.id = ANY(%(ids)s::bigint[]) AND dead_letter.consumer = %(relay)s
          AND dead_letter.state IN ('open', 'requested') AND message.published_at IS NULL
          AND (message.available_at = dead_letter.due_at OR message.available_at <= clock_timestamp())
        FOR UPDATE OF message SKIP LOCKED
    )
    UPDATE baton_outbox AS message SET published_at = waiting.died_at
    FROM waiting WHERE message.id = waiting.id
    RETURNING waiting.letter_id
"""


def send_held(order: Replay, *, limit: int | None = None) -> list[int]:
    """Request the dead letters of a replay that are held back, oldest first; return their ids. Call in a transaction.

    Those that the inbox has by now are resolved instead: there is nothing to send.
    """
    held = order.dead_letters.replayable().filter(requested_at=None).order_by("pk")
    dead_letter_ids = held.lock(limit=limit)
    applied = dict(DeadLetter.objects.filter(pk__in=dead_letter_ids).applied().values_list("pk", "key"))
    # Those, and none that the inbox gets meanwhile: nobody would be told of it.
    DeadLetter.objects.filter(pk__in=applied).update(
        state=State.RESOLVED, settled_at=Now(), settled_by=worker_of_message(), requested_at=Now()
    )
    tell_settled(applied.values())
    with connection.cursor() as cursor:
        gap_seconds = 1 / order.rate_per_second if order.rate_per_second else 0
        cursor.execute(_REQUEST, {"ids": dead_letter_ids, "gap_seconds": gap_seconds, "relay": RELAY})
    _write_pruned_rows(dead_letter_ids)
    notify_relay_on_commit()
    return dead_letter_ids


def withdraw_unsent(replay_id: int) -> list[int]:
    """Call back what the relay has not taken yet, and forget what was held back; return the ids."""
    dead_letters = DeadLetter.objects.filter(replay=replay_id)
    held = list(dead_letters.open().filter(requested_at=None).lock())
    taken_back = _take_back(dead_letters.unsettled())
    dead_letters.unsettled().filter(pk__in=taken_back).update(state=State.OPEN, requested_at=None)
    with connection.cursor() as cursor:
        cursor.execute(_WITHDRAW, [replay_id])
        return sorted({*held, *taken_back, *(dead_letter_id for (dead_letter_id,) in cursor.fetchall())})


def call_back(dead_letters: DeadLetterQuerySet) -> None:
    """Let nothing more leave of the messages of dead letters, but for what a relay has claimed at this moment."""
    same = dead_letters.filter(message_id=OuterRef("message_id"), consumer=OuterRef("consumer"))
    Attempt.objects.unclaimed().filter(Exists(same)).delete()
    _take_back(dead_letters)


def _take_back(dead_letters: DeadLetterQuerySet) -> list[int]:
    """Take out of the outbox what was put back there and no relay has claimed; return the ids of its dead letters."""
    ids = list(dead_letters.filter(consumer=RELAY).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_BACK, {"ids": ids, "relay": RELAY})
        return [dead_letter_id for (dead_letter_id,) in cursor.fetchall()]


def _write_pruned_rows(dead_letter_ids: list[int]) -> None:
    """Give the outbox a row again of what it has forgotten since the relay gave it up."""
    there = OutboxMessage.objects.filter(message_id=OuterRef("message_id"))
    pruned = DeadLetter.objects.filter(pk__in=dead_letter_ids, consumer=RELAY, state=State.REQUESTED).exclude(
        Exists(there)
    )
    OutboxMessage.objects.bulk_create([_row(dead_letter) for dead_letter in pruned], batch_size=1000)


def _row(dead_letter: DeadLetter) -> OutboxMessage:
    row = OutboxMessage.of(dead_letter.open_envelope())
    row.available_at = dead_letter.due_at or row.available_at
    return row
