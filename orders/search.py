"""A search for orders takes what a clerk knows: the number, the customer's name, the e-mail address.

Each word must fit. The admin's list and an export of what it shows search the same way.
"""

from uuid import UUID

from baton_messaging.extend.triage import typed_id
from django.db.models import Q
from django.utils.text import smart_split, unescape_string_literal

from orders.models import OrderQuerySet
from orders.reference import BACKWARDS, LENGTH, typed_reference


def search(orders: OrderQuerySet, text: str) -> OrderQuerySet:
    """Return the orders that fit every word. A number with blanks in it is one word."""
    words = [text] if len(typed_reference(text) or "") == LENGTH else _words(text)
    found = orders.alias(backwards=BACKWARDS) if words else orders
    for word in words:
        found = found.filter(_fits(word))
    return found


def _fits(word: str) -> Q:
    """Match one word. A whole id or number is nothing else, so that the index finds it among millions."""
    try:
        return Q(pk=UUID(typed_id(word)))
    except ValueError:
        end = typed_reference(word)
    by_number = Q(backwards__startswith=end[::-1]) if end else Q()
    if end and len(end) == LENGTH:
        return by_number
    return by_number | Q(customer_name__icontains=word) | Q(customer_email__icontains=word)


def _words(text: str) -> list[str]:
    """Return the words, and what stands in quotes as one."""
    words = list(smart_split(text))
    return [unescape_string_literal(word) if word[0] in "\"'" and word[0] == word[-1] else word for word in words]
