"""How long does a person wait for the exports' page, and for the answer to its form, with millions of orders there?"""

import logging
import warnings
from time import perf_counter

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.report import Check, Figure, Section
from orders.exports.models import Export

ANSWER_COUNT = 21
MAX_ANSWER_MS = 200.0


def measure(order_count: int) -> Section:
    """Ask for the page, and send the form, some times each; no worker takes what is asked for."""
    person, _is_new = User.objects.get_or_create(username="bench", is_superuser=True)
    warnings.filterwarnings("ignore", message="No directory at", category=UserWarning)  # nobody collected static files
    client = Client(HTTP_HOST=settings.ALLOWED_HOSTS[0])
    client.force_login(person)
    logging.disable(logging.INFO)  # a line per request, between the figures
    shown, sent = [], []
    for _ in range(ANSWER_COUNT):
        started = perf_counter()
        _demand(200, client.get("/exports/", secure=True).status_code)
        middle = perf_counter()
        _demand(302, client.post("/exports/", {"format": "csv"}, secure=True).status_code)
        shown.append(1_000 * (middle - started))
        sent.append(1_000 * (perf_counter() - middle))
        Export.objects.cancel(Export.objects.values_list("pk", flat=True)[0])
    logging.disable(logging.NOTSET)
    page, form = Figure("the page with its list", shown, "ms"), Figure("the form's answer", sent, "ms")
    return Section(
        f"exports: what a person waits for, {order_count:,} orders",
        [page, form],
        [Check("slower of the two", max(page.value, form.value), MAX_ANSWER_MS, "ms", at_most=True)],
    )


def _demand(expected: int, status: int) -> None:
    if status != expected:
        raise AssertionError(f"Expected {expected}, got {status}.")
