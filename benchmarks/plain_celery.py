"""The other side of `consume`: Celery as most projects set it up, with kombu's own Redis transport.

``celery -A benchmarks.plain_celery worker``. PLAIN_DB_REUSE=1 keeps the database connection between tasks, which
Celery by itself does not, whatever CONN_MAX_AGE says.
"""

import os

from celery import Celery
from django.db import transaction

REUSED = "plain_reuse"
BROKER_URL = os.environ["CELERY_BROKER_URL"].removesuffix("/0") + "/1"  # a database of its own

app = Celery("plain", set_as_current=False)
app.conf.update(broker_read_url=BROKER_URL, broker_write_url=BROKER_URL)  # broker_url would lose to the environment
if os.environ.get("PLAIN_DB_REUSE"):
    app.conf["CELERY_DB_REUSE_MAX"] = 10_000


@app.task(acks_late=True, ignore_result=True, name="plain.reserve")
def reserve(message_id: str, order_id: str, sku: str, quantity: int) -> None:
    """Do once what the message asks for."""
    from benchmarks.models import Effect, SeenMessage, Stock  # noqa: PLC0415 - Django is set up when the worker is

    with transaction.atomic():
        _seen, is_new = SeenMessage.objects.get_or_create(message_id=message_id)
        if not is_new:
            return
        stock = Stock.objects.select_for_update().get(sku=sku)
        stock.reserved += quantity
        stock.save()
        Effect.objects.create(order_id=order_id, sku=sku, quantity=quantity)
