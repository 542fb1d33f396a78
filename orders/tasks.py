"""The consumers of orders: they settle orders by what the inventory says and keep the sales figures.

Repeating is safe: settling is an UPDATE that demands the state it leaves, and each increment shares its transaction
with the inbox row that admits a message once. Nothing outside the database is touched, so only its outage matters.

Exports run outside a transaction and touch the storage of files. Repeating them is safe all the same: the worker that
builds one has claimed its row, and a second delivery finds it claimed or finished. A storage that is down ends an
export as failed, with a button to try again; of one whose worker is gone ``take_up_exports`` takes care.
"""

from baton_messaging.consumer import consumer
from baton_messaging.scheduled import scheduled_task
from celery import current_task
from django.conf import settings

from inventory.events import StockRejected, StockReserved
from orders import limits, services
from orders.events import ConfirmationOverdue, ExportRequested, OrderCancelled, OrderPlaced
from orders.exports import building, housekeeping


@consumer(OrderPlaced, bundle=True, bundle_size=500)  # one statement whatever the number, so let bundles be large
def record_sale(events: list[OrderPlaced]) -> None:
    """Add the orders to their days' figures."""
    services.record_sales(events)


@consumer(OrderCancelled)
def record_cancellation(event: OrderCancelled) -> None:
    """Take the order back from its day's figures."""
    services.record_cancellation(event)


@consumer(StockReserved)
def confirm_order(event: StockReserved) -> None:
    """Settle the order: there is stock."""
    services.confirm_order(event.order_id)


@consumer(StockRejected)
def reject_order(event: StockRejected) -> None:
    """Settle the order: there is not enough stock."""
    services.reject_order(event.order_id)


@consumer(ConfirmationOverdue)
def cancel_overdue(event: ConfirmationOverdue) -> None:
    """Cancel the order, unless it was settled meanwhile."""
    services.cancel_overdue_order(event.order_id)


@consumer(
    ExportRequested,
    atomic=False,
    idempotent_by="the row's state machine: whoever builds has claimed it, a second delivery finds it claimed",
    queue="orders.bulk",
    depends_on=["exports"],
    bundle_size=1,
    soft_time_limit=settings.EXPORTS["SOFT_TIME_LIMIT_SECONDS"],
    time_limit=settings.EXPORTS["TIME_LIMIT_SECONDS"],
)
def build_export(event: ExportRequested) -> None:
    """Build the file of an export."""
    building.build(event.export_id, worker=current_task.request.hostname or "")


@scheduled_task("orders.forget_counts", soft_time_limit=30, time_limit=40)
def forget_counts() -> int:
    """Forget how often was ordered in windows of time that are over."""
    return limits.forget()


@scheduled_task("orders.take_up_exports", soft_time_limit=30, time_limit=40)
def take_up_exports() -> int:
    """Take up exports whose worker is gone."""
    return housekeeping.take_up_abandoned()


@scheduled_task("orders.expire_exports", soft_time_limit=240, time_limit=250)
def expire_exports() -> dict[str, int]:
    """End exports whose time is over, delete files that nobody may download any more, forget old rows."""
    return {
        "expired": housekeeping.expire_due(),
        "cleaned": housekeeping.clean(),
        "forgotten": housekeeping.forget_old(),
    }
