"""The consumers of notifications: one mail each.

- ``send_order_received`` on OrderPlaced, ``send_order_confirmed`` on StockReserved, ``send_order_rejected`` on
  StockRejected, ``send_order_cancelled`` on OrderCancelled: to the customer.
- ``send_export_ready`` on ExportReady, ``send_export_expiring`` on ExportExpiring: to the person who asked for it.

Repeating is safe: the mail log has one row per order and kind. One message per bundle, because a mail that went out
cannot be rolled back with its neighbours. When the mail server is down or silent (MailUnavailable) the message waits
in the retry table; 24 attempts up to 10 minutes apart outlast an outage of more than an hour. A refused recipient
(MailRefused) dies on the first try and harms no other.

The soft limit of 45 s leaves room for a slow server (10 s per answer) and cuts off one that dribbles; 15 s later the
hard limit ends the process.
"""

from baton_messaging.consumer import Policy, consumer

from inventory.events import StockRejected, StockReserved
from notifications import exports, services
from notifications.models import Kind
from orders.events import ExportExpiring, ExportReady, OrderCancelled, OrderPlaced

MAIL = Policy(
    bundle_size=1,
    depends_on=["mail"],
    soft_time_limit=45,
    time_limit=60,
    max_retries=24,
    retry_backoff=5,
    retry_backoff_max=600,
)


@consumer(OrderPlaced, policy=MAIL)
def send_order_received(event: OrderPlaced) -> None:
    """Tell the customer that the order has arrived."""
    services.send(order_id=event.order_id, kind=Kind.RECEIVED)


@consumer(StockReserved, policy=MAIL)
def send_order_confirmed(event: StockReserved) -> None:
    """Tell the customer that everything is set aside."""
    services.send(order_id=event.order_id, kind=Kind.CONFIRMED)


@consumer(StockRejected, policy=MAIL)
def send_order_rejected(event: StockRejected) -> None:
    """Tell the customer what is not to be had."""
    services.send(order_id=event.order_id, kind=Kind.REJECTED, short_skus=event.skus)


@consumer(OrderCancelled, policy=MAIL)
def send_order_cancelled(event: OrderCancelled) -> None:
    """Tell the customer that the order is cancelled."""
    services.send(order_id=event.order_id, kind=Kind.OVERDUE if event.is_overdue else Kind.CANCELLED)


@consumer(ExportReady, policy=MAIL)
def send_export_ready(event: ExportReady) -> None:
    """Tell the person who asked for an export that it can be fetched."""
    exports.send(event.export_id, Kind.EXPORT_READY)


@consumer(ExportExpiring, policy=MAIL)
def send_export_expiring(event: ExportExpiring) -> None:
    """Remind the person who asked for an export that its file will be deleted."""
    exports.send(event.export_id, Kind.EXPORT_EXPIRING)
