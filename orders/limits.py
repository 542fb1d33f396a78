"""The limits on orders count per e-mail address and per client, in the database: each process counts the same.

Windows of ten minutes begin with the clock. A row counts one address in one window; its key is a keyed hash, so the
table tells no address. One statement counts and asks at once, so of those that race none is forgotten.

*Units*: ``ORDERS["PER_EMAIL"]`` and ``ORDERS["PER_CLIENT"]``, orders (count) in a window; 0 means no limit.
"""

import time
from datetime import UTC, datetime
from typing import Final

from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from orders.errors import TooManyOrders
from orders.models import OrderCount

WINDOW_SECONDS: Final = 600

_COUNT = """
    INSERT INTO orders_ordercount (key, ends_at, count) VALUES (%s, %s, 1)
    ON CONFLICT (key) DO UPDATE SET count = orders_ordercount.count + 1
    RETURNING count
"""


class Limits:
    """What holds for one request. In debug nothing holds for whoever is on this machine: load tests are, too."""

    def __init__(self, request: HttpRequest) -> None:
        self._client: str = import_string(str(settings.ORDERS["CLIENT_ADDRESS"]))(request)
        self._are_off = settings.ORDERS["FREE_ON_LOOPBACK"] and self._client in ("127.0.0.1", "::1")

    def count_client(self) -> None:
        """Count a request to order, whatever comes of it. Raises TooManyOrders."""
        self._count("client", self._client, limit=int(settings.ORDERS["PER_CLIENT"]))

    def count_email(self, address: str) -> None:
        """Count an order, in its own transaction: one that is refused or repeated counts not. Raises TooManyOrders."""
        self._count("email", address.casefold(), limit=int(settings.ORDERS["PER_EMAIL"]))

    def _count(self, kind: str, address: str, *, limit: int) -> None:
        if not limit or not address or self._are_off:
            return
        number, passed = divmod(int(time.time()), WINDOW_SECONDS)
        key = salted_hmac("orders.limits", f"{kind}:{number}:{address}", algorithm="sha256").hexdigest()
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, [key, datetime.fromtimestamp((number + 1) * WINDOW_SECONDS, UTC)])
            (count,) = cursor.fetchone()
        if count > limit:
            raise TooManyOrders(kind, seconds=WINDOW_SECONDS - passed)


def forget() -> int:
    """Delete the counts of windows that are over. Return how many."""
    return OrderCount.objects.filter(ends_at__lt=datetime.now(UTC)).delete()[0]
