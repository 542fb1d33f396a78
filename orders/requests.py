"""What a customer asks for, checked in form but not yet against the catalogue: the input of ``services.place_order``.

The API's schema and the page's form both end here, so their limits stand here once.
"""

import hashlib
import json
from dataclasses import dataclass

# Characters. Names and addresses of the real world fit; a column, a mail header and a log line hold them.
MAX_NAME_LENGTH = 200
MAX_EMAIL_LENGTH = 254  # RFC 5321 leaves this much between the angle brackets
MAX_NOTE_LENGTH = 500
MAX_SKU_LENGTH = 64
MAX_IDEMPOTENCY_KEY_LENGTH = 200
# Products of one order: its reservation locks as many rows of stock at once.
MAX_LINES = 100
# Pieces of one product: far above any real order, far below what the columns of stock and total overflow at.
MAX_QUANTITY = 10_000


@dataclass(frozen=True, slots=True)
class RequestedLine:
    """One product and how many of it."""

    sku: str
    quantity: int


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """One order as the customer wants it. ``repr`` shows no personal data."""

    customer_name: str
    customer_email: str
    language: str
    note: str
    lines: tuple[RequestedLine, ...]

    def __repr__(self) -> str:
        return f"<OrderRequest of {len(self.lines)} lines>"

    def fingerprint(self) -> str:
        """Return 64 hex digits that are the same for the same request: what an idempotency key stands for."""
        lines = [(line.sku, line.quantity) for line in self.lines]
        canonical = json.dumps([self.customer_name, self.customer_email, self.language, self.note, lines])
        return hashlib.sha256(canonical.encode()).hexdigest()
