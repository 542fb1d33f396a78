"""What goes wrong with orders: where they are placed, and with their rows."""

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from urllib.request import Request, urlopen
from uuid import uuid4

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_processed
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import ProcessedMessage
from baton_messaging.publish import publish
from baton_messaging.routing.subscriptions import subscriptions_of
from django.db import transaction
from django.utils import timezone

from inventory.models import StockItem
from orders.events import OrderPlaced
from orders.models import Order, Product
from tests.blame.owners import PLATFORM, SHOP, WAREHOUSE
from tests.blame.stack import ShopStack
from tests.orders.factories import an_order, bare_order

RESERVE = "inventory.reserve_stock"


def a_catalogue() -> None:
    """Offer one product, with stock."""
    Product.objects.update_or_create(sku="MUG", defaults={"name": "Blue mug", "price": Decimal("9.50")})
    StockItem.objects.update_or_create(sku="MUG", defaults={"on_hand": 1_000_000})


@fault("web killed after the commit", State.DONE, WAREHOUSE)
def web_killed_after_commit(stack: ShopStack) -> Iterator[Question]:
    a_catalogue()
    body = {
        "customer_name": "Ann Example",
        "customer_email": "ann@example.com",
        "lines": [{"sku": "MUG", "quantity": 1}],
    }
    request = Request(f"http://127.0.0.1:{stack.web_port}/api/orders", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    stack.wait(lambda: _answers(stack), what="a web process", seconds=60)
    with urlopen(request, timeout=30) as answer:
        question = Question(json.load(answer)["order_id"], RESERVE)
        stack.processes["web"].kill()
    until_processed(stack, question)
    yield question


@fault("web killed before the commit", State.NOT_PUBLISHED, PLATFORM)
def web_killed_before_commit(_stack: ShopStack) -> Iterator[Question]:
    yield Question(str(uuid4()), "")


@fault("order without its message", State.NOT_PUBLISHED, SHOP, short=True)
def order_without_message(_stack: ShopStack) -> Iterator[Question]:
    yield Question(str(bare_order().pk), "")


@fault("order row gone", State.ROW_GONE, SHOP, short=True)
def order_row_gone(stack: ShopStack) -> Iterator[Question]:
    a_catalogue()
    order = an_order(MUG=1)
    question = Question(str(order.pk), RESERVE)
    until_processed(stack, question)
    order_id = order.pk
    Order.objects.get(pk=order_id).lines.all().delete()
    Order.objects.filter(pk=order_id).delete()
    yield Question(str(order_id), "")


@fault("the answer was never published", State.NOT_PUBLISHED, WAREHOUSE)
def answer_not_published(_stack: ShopStack) -> Iterator[Question]:
    order = bare_order()
    event = OrderPlaced(order_id=order.pk, placed_at=order.placed_at, lines=(), total=order.total, currency="EUR")
    with transaction.atomic():
        (message_id,) = publish(event)
        for subscription in subscriptions_of(event.event_name):
            ProcessedMessage.objects.claim(consumer=subscription.consumer, message_ids=[message_id], worker="w")
        ProcessedMessage.objects.update(processed_at=timezone.now() - timedelta(seconds=30))
    yield Question(str(order.pk), "")


def _answers(stack: ShopStack) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{stack.web_port}/healthz", timeout=2):
            return True
    except OSError:
        return False
