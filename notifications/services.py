"""Send one mail per order and kind.

Invariant: the log row is inserted before the mail is handed over and committed together with the inbox row, so that a
redelivered message, or a second message of the same kind, finds it and sends nothing.

Hazard (F11): mail cannot be rolled back. If the server accepts a mail and nothing of it is committed, the mail goes out
again; it then has the same Message-ID, by which mail programs and providers that look for duplicates know it. That is
so when the worker is killed, or its connection to the database lost, before the commit, and when the server's answer
(its 250) is lost. There is no other way to a second copy.
"""

from collections.abc import Collection
from uuid import UUID

import structlog
from django.db import transaction

from notifications.delivery import deliver
from notifications.letters import compose, letter_language, message_id
from notifications.models import Kind, MailLog, Outcome
from notifications.orders import order_details

log = structlog.get_logger(__name__)

# Statuses of an order in which a mail would tell an untruth: the event that asked for it has been overtaken.
_OVERTAKEN_BY = {
    Kind.RECEIVED: frozenset[str](),
    Kind.CONFIRMED: frozenset({"cancelled"}),
    Kind.REJECTED: frozenset({"cancelled"}),
    Kind.CANCELLED: frozenset[str](),
    Kind.OVERDUE: frozenset[str](),
}


@transaction.atomic
def send(*, order_id: UUID, kind: Kind, short_skus: Collection[str] = ()) -> None:
    """Send the mail unless it was sent before, or withhold it if the order has moved on.

    Raises MailRefused, MailUnavailable; the log row goes with the transaction then.
    """
    order = order_details(order_id)
    outcome = Outcome.WITHHELD if order.status in _OVERTAKEN_BY[kind] else Outcome.SENT
    is_new = MailLog.objects.claim(
        order_id=order_id,
        kind=kind,
        outcome=outcome,
        language=letter_language(order),
        message_id=message_id(order_id, kind),
    )
    if is_new and outcome == Outcome.SENT:
        deliver(compose(order, kind, short_skus=short_skus))
    log.info("mail_handled", order_id=str(order_id), kind=kind.value, outcome=outcome.value if is_new else "repeated")
