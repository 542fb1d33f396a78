"""Requested dead letters are resolved once they took effect: when the inbox has the message's row.

One set-based UPDATE, cheap when there is nothing to notice (a partial index holds only what was asked for). It runs
from beat's task, when a page of the desk is looked at, and right after a replay; a message that succeeds costs nothing.
"""

from collections.abc import Iterable

import structlog
from django.db import connection, transaction

from baton_messaging.dead_letters.intake.record import tell
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import RELAY
from baton_messaging.signals import dead_letters_settled

log = structlog.get_logger(__name__)

# Also an open one that was asked for: its replay may have been taken for dead, or lost, and arrive after all.
_RESOLVE = """
    UPDATE baton_dead_letter AS dead_letter SET state = 'resolved', settled_at = clock_timestamp()
    WHERE dead_letter.state IN ('open', 'requested') AND dead_letter.requested_at IS NOT NULL AND (
        EXISTS (SELECT 1 FROM baton_inbox AS processed
                WHERE processed.message_id = dead_letter.message_id AND processed.consumer = dead_letter.consumer)
        OR (dead_letter.consumer = %s AND dead_letter.state = 'requested' AND EXISTS (
                SELECT 1 FROM baton_outbox AS message
                WHERE message.message_id = dead_letter.message_id AND message.published_at IS NOT NULL)))
    RETURNING dead_letter.key
"""


def resolve_applied() -> int:
    """Settle the requested dead letters whose effect is there; return how many."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_RESOLVE, [RELAY])
            keys = [key for (key,) in cursor.fetchall()]
        tell_settled(keys)
    if keys:
        log.info("dead_letters_resolved", dead_letter_count=len(keys))
    return len(keys)


def tell_settled(keys: Iterable[str]) -> None:
    """Tell the apps which aggregates have no unsettled dead letter left. Call inside the transaction of the change.

    A message that died since that query found its aggregate marked already; so it is asked once more when the receivers
    have taken the mark back, and have waited for the transaction that was about to set it.
    """
    about = {key for key in keys if key}
    unsettled = DeadLetter.objects.unsettled()
    if free := about - set(unsettled.filter(key__in=about).values_list("key", flat=True)):
        dead_letters_settled.send(sender=DeadLetter, keys=free)
        died = unsettled.filter(key__in=free).values_list("key", "consumer", "message_id")
        for key, consumer, message_id in died:
            if message_id:
                tell(key=key, consumer=consumer, message_id=message_id)
