"""What counts as done and is not: rows written by hand, files that are gone or elsewhere."""

from collections.abc import Iterator
from pathlib import Path

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_processed, until_running
from baton_dev.blame.servers import locked, session
from baton_messaging.diagnosis.triage.verdict import State
from django.db import connection

from inventory.models import Reservation
from orders.exports.files import storage
from orders.exports.models import Export
from orders.exports.states import ExportState
from orders.models import DailySales, Order, OrderStatus
from tests.blame.faults.exports import an_export, until_state
from tests.blame.faults.orders import RESERVE, a_catalogue
from tests.blame.owners import PLATFORM, SHOP, WAREHOUSE
from tests.blame.stack import ShopStack
from tests.orders.factories import an_order

SALE = "orders.record_sale"


def a_confirmed_order(stack: ShopStack, consumer: str) -> Question:
    """Place an order, and wait until the warehouse has answered and the sale is counted."""
    a_catalogue()
    question = Question(str(an_order(MUG=1).pk), consumer)
    for one in (RESERVE, SALE):
        until_processed(stack, Question(question.id, one))
    confirmed = Order.objects.filter(pk=question.id, status=OrderStatus.CONFIRMED)
    stack.wait(confirmed.exists, what="an order that is confirmed")
    return question


@fault("export's file is in another storage", State.DONE, PLATFORM, says="file|storage", doctor="file|storage")
def file_elsewhere(stack: ShopStack) -> Iterator[Question]:
    (stack.folder / "elsewhere").mkdir(exist_ok=True)
    stack.restart("bulk", BATON_STATE_DIR=str(stack.folder / "elsewhere"))
    try:
        question = an_export()
        until_state(stack, question, ExportState.READY)
        yield question
    finally:
        stack.stop("bulk")


@fault("export's file deleted by hand", State.DONE, PLATFORM, says="file|storage", doctor="file|storage")
def file_gone(stack: ShopStack) -> Iterator[Question]:
    question = an_export()
    until_state(stack, question, ExportState.READY)
    storage().delete(Export.objects.get(pk=question.id).file_name)
    yield question


@fault(
    "a trigger swallows the day's sales",
    State.DONE,
    PLATFORM,
    says=("sales", "stocktaking"),
    step="DISABLE TRIGGER",
    doctor="stocktaking",
)
def swallowed_sales(stack: ShopStack) -> Iterator[Question]:
    with session("admin") as own:
        own.execute("CREATE FUNCTION stocktaking() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
        before = "CREATE TRIGGER quiet BEFORE INSERT ON orders_dailysales"
        own.execute(f"{before} FOR EACH ROW EXECUTE FUNCTION stocktaking()".encode())
        try:
            a_catalogue()
            question = Question(str(an_order(MUG=1).pk), SALE)
            until_processed(stack, question)
            yield question
        finally:
            own.execute("DROP FUNCTION stocktaking() CASCADE")


@fault("export's file was cut off", State.DONE, PLATFORM, says="file|storage", doctor="file|storage")
def file_cut_off(stack: ShopStack) -> Iterator[Question]:
    question = an_export()
    until_state(stack, question, ExportState.READY)
    path = Path(storage().path(Export.objects.get(pk=question.id).file_name))
    path.write_bytes(path.read_bytes()[:-1])
    yield question


@fault("reservation deleted by hand", State.DONE, WAREHOUSE, says="reserv", doctor="reserv")
def no_reservation(stack: ShopStack) -> Iterator[Question]:
    question = a_confirmed_order(stack, RESERVE)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM inventory_reservationline WHERE reservation_id = %s", [question.id])
    Reservation.objects.filter(pk=question.id).delete()
    yield question


@fault("the day's sales deleted by hand", State.DONE, SHOP, says="sale", doctor="sale")
def no_sale(stack: ShopStack) -> Iterator[Question]:
    question = a_confirmed_order(stack, SALE)
    DailySales.objects.all().delete()
    yield question


@fault("order's status set back by hand", State.DONE, SHOP, says="accepted|status", doctor="accepted|status|confirm")
def status_by_hand(stack: ShopStack) -> Iterator[Question]:
    question = a_confirmed_order(stack, "orders.confirm_order")
    Order.objects.filter(pk=question.id).update(status=OrderStatus.ACCEPTED, settled_at=None)
    yield question


@fault("confirmed order rejected by hand", State.DONE, SHOP, says="status", doctor="status")
def rejected_by_hand(stack: ShopStack) -> Iterator[Question]:
    question = a_confirmed_order(stack, "orders.confirm_order")
    Order.objects.filter(pk=question.id).update(status=OrderStatus.REJECTED)
    yield question


@fault(
    "a forgotten session holds the stock's row",
    State.RUNNING,
    PLATFORM,
    says=("psql", "lock"),
    step="pg_terminate_backend",
    doctor="psql",
    victims=("apps",),
)
def stock_locked(stack: ShopStack) -> Iterator[Question]:
    a_catalogue()
    with locked("UPDATE inventory_stockitem SET on_hand = on_hand WHERE sku = 'MUG'"):
        question = Question(str(an_order(MUG=1).pk), RESERVE)
        until_running(stack, question)
        yield question
