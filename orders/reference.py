"""The reference is what people call a row by: the last block of its id, in capitals.

Pages, mails and exports show it; whoever types it back may leave out its beginning, and use any case.
"""

import re
from typing import Final, TypeVar
from uuid import UUID

from baton_messaging.extend.triage import typed_id
from django.db import models
from django.db.models.functions import Cast, Reverse

LENGTH: Final = 12
MIN_LENGTH: Final = 6  # less than that is a number of something else, or a word

_TYPED: Final = re.compile(rf"[0-9a-f]{{{MIN_LENGTH},{LENGTH}}}")
_Rows = TypeVar("_Rows", bound="models.QuerySet[models.Model]")

#: The id from its end: the expression that the index of orders is on (``order_by_reference``).
BACKWARDS: Final = Reverse(Cast("id", models.TextField()))


def reference_of(row_id: UUID) -> str:
    """Return what people call the row by.

    >>> reference_of(UUID("01920000-0000-7000-8000-237ad9f45373"))
    '237AD9F45373'
    """
    return str(row_id).rpartition("-")[2].upper()


def typed_reference(text: str) -> str | None:
    """Return the end of an id that somebody typed, or None if it cannot be one.

    >>> typed_reference(" #237A D9F4 5373"), typed_reference("Ann"), typed_reference("12345")
    ('237ad9f45373', None, None)
    """
    typed = typed_id(text).lower()
    return typed if _TYPED.fullmatch(typed) else None


def called(rows: _Rows, text: str) -> _Rows:
    """Return the rows that people call so, none if it is no reference."""
    end = typed_reference(text)
    if end is None:
        return rows.none()
    return rows.alias(backwards=BACKWARDS).filter(backwards__startswith=end[::-1])
