"""A position says how far one message got with one consumer, as the tables tell: the one rule for every view.

Progress, triage and the reconciler's choice are views of it. It is here twice, for rows that were read
(``position_of``) and for a statement over many (the conditions below). A test compares the two, and all views, over
every constellation of rows (tests/diagnosis/test_views_agree.py).

    unsent ──▶ with the broker ──▶ processed
                 │        ▲
                 ▼        │ the relay sends it (again)
        waits in the database ◀── replay planned ◀── dead

What the tables do not tell is not decided here: whether it is in a queue, in a worker, or lost.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Position(StrEnum):
    """How far it got. The order is that in which the tables are asked: an inbox row ends all questions."""

    PROCESSED = "processed"  # its effect is in the database, once
    DEAD = "dead"  # a person must decide, or has decided
    REPLAY_PLANNED = "replay planned"  # held back until the first of the replay are through
    WAITS_IN_DATABASE = "waits in the database"  # for its next attempt: failed, held back, or replayed
    WITH_THE_BROKER = "with the broker"  # or with a worker, or lost: it left
    UNSENT = "unsent"  # in the outbox, the relay's
    NO_TRACE = "no trace"  # its rows are no longer kept


@dataclass(frozen=True)
class Death:
    """A dead letter, as far as it matters. ``is_leaving``: its replay may leave, or has left."""

    state: str
    is_leaving: bool


def position_of(
    *, is_processed: bool, death: Death | None, was_last_attempt_sent: bool | None, is_sent: bool | None
) -> Position:
    """Return how far a message got. None: there is no attempt, or no row in the outbox.

    >>> str(position_of(is_processed=False, death=None, was_last_attempt_sent=None, is_sent=False))
    'unsent'
    >>> str(position_of(is_processed=False, death=Death("open", False), was_last_attempt_sent=True, is_sent=True))
    'dead'
    """
    if is_processed or (death and death.state == "resolved"):
        return Position.PROCESSED
    if death and death.state != "requested":
        return Position.DEAD
    if death and not death.is_leaving:
        return Position.REPLAY_PLANNED
    if was_last_attempt_sent is not None:
        return Position.WITH_THE_BROKER if was_last_attempt_sent else Position.WAITS_IN_DATABASE
    if is_sent is not None:
        return Position.WITH_THE_BROKER if is_sent else Position.UNSENT
    return Position.NO_TRACE


# The same in SQL. ``{message}`` stands for a row that has the message's id, ``%(consumer)s`` for the consumer.

PROCESSED: Final = """
    EXISTS (
        SELECT 1 FROM baton_inbox AS processed
        WHERE processed.message_id = {message}.message_id AND processed.consumer = %(consumer)s)
"""

#: It has a dead letter, in whatever state: from then on the dead letter is what is watched.
HAS_DEAD_LETTER: Final = """
    EXISTS (
        SELECT 1 FROM baton_dead_letter AS dead_letter
        WHERE dead_letter.message_id = {message}.message_id AND dead_letter.consumer = %(consumer)s)
"""

REPLAY_REQUESTED: Final = """
    EXISTS (
        SELECT 1 FROM baton_dead_letter AS dead_letter
        WHERE dead_letter.message_id = {message}.message_id AND dead_letter.consumer = %(consumer)s
          AND dead_letter.state = 'requested')
"""

#: A join: the attempt that counts, with its ``id`` and ``sent_at``.
LAST_ATTEMPT: Final = """
    LATERAL (
        SELECT id, sent_at FROM baton_attempt AS attempt
        WHERE attempt.message_id = {message}.message_id AND attempt.consumer = %(consumer)s
        ORDER BY round DESC, attempt.attempt DESC LIMIT 1
    ) AS last
"""

#: Something of the consumer is held; whether this message is, ``flow_control.holds`` says.
MAYBE_HELD: Final = """
    EXISTS (SELECT 1 FROM baton_pause
            WHERE resumed_at IS NULL AND (consumer = %(consumer)s OR event_name = %(event)s))
    OR EXISTS (SELECT 1 FROM baton_circuit WHERE opened_at IS NOT NULL AND consumer = %(consumer)s)
"""

#: Of a row of the outbox (``message``) joined with LAST_ATTEMPT that was never dead.
SENT_AND_NOT_PROCESSED: Final = f"""
    %(consumer)s = ANY (message.sent_to)
    AND (last.id IS NULL OR last.sent_at IS NOT NULL)
    AND NOT {PROCESSED.format(message="message")}
    AND NOT {HAS_DEAD_LETTER.format(message="message")}
"""

#: Of a row of the dead letters (``dead_letter``) joined with LAST_ATTEMPT.
REPLAYED_AND_NOT_PROCESSED: Final = f"""
    dead_letter.state = 'requested' AND dead_letter.requested_at IS NOT NULL
    AND dead_letter.consumer = %(consumer)s
    AND last.sent_at IS NOT NULL
    AND NOT {PROCESSED.format(message="dead_letter")}
"""
