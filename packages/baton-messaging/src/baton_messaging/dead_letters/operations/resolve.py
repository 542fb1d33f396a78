"""Dead letters are resolved by themselves once their message took effect: when the inbox has its row.

One set-based UPDATE, cheap when there is nothing to notice (a partial index holds only what was asked for). It runs
from beat's task, when a page of the desk is looked at, and right after a replay; a message that succeeds costs nothing.
Beat's task also looks at those whose replay no person asked for: another copy may have been processed after all, by a
worker that has the right key, say. Named as having settled it is the worker of the inbox row.
"""

from collections.abc import Iterable
from typing import Final

import structlog
from django.db import connection, transaction

from baton_messaging.dead_letters.intake.record import tell
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import RELAY
from baton_messaging.signals import dead_letters_settled

log = structlog.get_logger(__name__)

# Also an open one that was asked for: its replay may have been taken for dead, or lost, and arrive after all.
_RESOLVE: Final = """
    UPDATE baton_dead_letter AS dead_letter
    SET state = 'resolved', settled_at = clock_timestamp(), settled_by = processed.worker
    FROM baton_inbox AS processed
    WHERE dead_letter.state IN ('open', 'requested') AND {chosen}
      AND processed.message_id = dead_letter.message_id AND processed.consumer = dead_letter.consumer
    RETURNING dead_letter.key
"""
_ASKED_FOR: Final = "dead_letter.requested_at IS NOT NULL"
_ANY: Final = "true"

# What the relay had given up is settled when it was published anew; its consumers have dead letters of their own.
_RESOLVE_PUBLISHED: Final = """
    UPDATE baton_dead_letter AS dead_letter
    SET state = 'resolved', settled_at = clock_timestamp(), settled_by = dead_letter.consumer
    FROM baton_outbox AS message
    WHERE dead_letter.state = 'requested' AND dead_letter.requested_at IS NOT NULL AND dead_letter.consumer = %s
      AND message.message_id = dead_letter.message_id AND message.published_at IS NOT NULL
    RETURNING dead_letter.key
"""


def resolve_applied(*, any_open: bool = False) -> int:
    """Settle the dead letters whose effect is there; return how many. ``any_open``: also those never asked for."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_RESOLVE.format(chosen=_ANY if any_open else _ASKED_FOR))
            keys = [key for (key,) in cursor.fetchall()]
            cursor.execute(_RESOLVE_PUBLISHED, [RELAY])
            keys += [key for (key,) in cursor.fetchall()]
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
