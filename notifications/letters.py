"""What a mail says: composes the letter for an order in the customer's language.

Invariants: the Message-ID follows from order and kind alone, so a repeated mail can be told from a new one; no text
from outside can start a line or a header of its own (F60).
"""

import unicodedata
from collections.abc import Collection
from email.errors import MessageError
from email.headerregistry import Address
from typing import Any
from uuid import UUID

from baton_messaging.extend import current_correlation_id
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.template.loader import render_to_string
from django.utils import translation

from notifications.errors import MailRefused
from notifications.models import Kind
from notifications.orders import OrderDetails

_TEMPLATES = "notifications/mail"
_MAX_SUBJECT_CHARACTERS = 200  # mail programs show about 70; the rest only bloats the header
_MAX_NAME_CHARACTERS = 200


def compose(order: OrderDetails, kind: Kind, *, short_skus: Collection[str] = ()) -> EmailMultiAlternatives:
    """Write the letter, as text and as HTML. ``short_skus`` are the lines that a rejection names.

    Raises MailRefused if the order's address is none.
    """
    with translation.override(letter_language(order)):
        context = _context(order, kind, short_skus)
        subject = one_line(render_to_string(f"{_TEMPLATES}/{kind.value}/subject.txt", context), _MAX_SUBJECT_CHARACTERS)
        context["subject"] = subject
        letter = EmailMultiAlternatives(
            subject=subject,
            body=render_to_string(f"{_TEMPLATES}/layout.txt", context),
            to=[order.customer_email],
            headers=_headers(order, kind),
        )
        letter.attach_alternative(render_to_string(f"{_TEMPLATES}/layout.html", context), "text/html")
    return letter


def letter_language(order: OrderDetails) -> str:
    """Return the customer's language if we write in it, else the project's."""
    return order.language if order.language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def message_id(order_id: UUID, kind: Kind) -> str:
    """Return the Message-ID: the same for every attempt at this mail.

    *Source*: RFC 5322, section 3.6.4.
    """
    return f"<{order_id.hex}.{kind.value}@{settings.NOTIFICATIONS_MESSAGE_ID_DOMAIN}>"


def one_line(text: str, max_characters: int) -> str:
    r"""Return the text as one line: white space of any kind becomes one blank, control characters go.

    >>> one_line("Mug\r\nBcc: x@example.com\x00", 200)
    'Mug Bcc: x@example.com'
    >>> one_line("abcdef", 4)
    'abc…'
    """
    line = " ".join(text.split())
    line = "".join(character for character in line if unicodedata.category(character) not in {"Cc", "Cs"})
    return line if len(line) <= max_characters else line[: max_characters - 1] + "…"


def _context(order: OrderDetails, kind: Kind, short_skus: Collection[str]) -> dict[str, Any]:
    lines = [
        {
            "sku": one_line(line.sku, _MAX_NAME_CHARACTERS),
            "name": one_line(line.name, _MAX_NAME_CHARACTERS),
            "quantity": line.quantity,
            "amount": line.quantity * line.unit_price,
            "is_short": line.sku in short_skus,
        }
        for line in order.lines
    ]
    return {
        "language": letter_language(order),
        "message_template": f"{_TEMPLATES}/{kind.value}/message.txt",
        "name": one_line(order.customer_name, _MAX_NAME_CHARACTERS),
        "reference": one_line(order.reference, _MAX_NAME_CHARACTERS),
        "lines": lines,
        "short_lines": [line for line in lines if line["is_short"]],
        "total": order.total,
        "currency": order.currency,
        "page_url": order.page_url,
    }


def _addressee(order: OrderDetails) -> str:
    """Return name and address as the header shows them; the envelope gets the bare address."""
    try:
        validate_email(order.customer_email)
        return str(Address(one_line(order.customer_name, _MAX_NAME_CHARACTERS), addr_spec=order.customer_email))
    except (ValidationError, ValueError, MessageError):
        raise MailRefused(f"order {order.order_id} has no valid address") from None


def _headers(order: OrderDetails, kind: Kind) -> dict[str, str]:
    headers = {
        "To": _addressee(order),
        "Message-ID": message_id(order.order_id, kind),
        "Auto-Submitted": "auto-generated",  # RFC 3834: keeps absence notices from answering
        "Content-Language": letter_language(order),
        "X-Mail-About": str(order.order_id),
        "X-Mail-Kind": kind.value,
    }
    correlation_id = current_correlation_id()
    return headers | ({"X-Correlation-ID": str(correlation_id)} if correlation_id else {})
