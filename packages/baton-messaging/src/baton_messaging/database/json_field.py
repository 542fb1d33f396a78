"""A JSON column is read row by row: a value that Python does not decode spoils its own row, and no other of the query.

PostgreSQL takes what Python refuses: nesting beyond the recursion limit, a number of more than 4,300 digits. Decoded
with the query, one such row raises for all rows that it was fetched with, and again at each try.

Invariant: reading never raises. What is refused comes as ``UndecodableJSON``, with the beginning of its text; code that
needs the value asks for an envelope, which raises Undecodable for that row.
"""

from typing import Any, Final

from django.db import models

MAX_SHOWN_CHARS: Final = 2_000


class UndecodableJSON(dict[str, Any]):
    """Stands in for the value of a row. Pages show its one entry, ``payload``."""

    def __init__(self, text: str) -> None:
        super().__init__(payload=text[:MAX_SHOWN_CHARS])


class JSONField(models.JSONField):
    """A column of JSON that is whatever the database holds."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the value, or its stand-in."""
        try:
            return super().from_db_value(value, expression, connection)
        except (ValueError, RecursionError):
            return UndecodableJSON(str(value))

    def deconstruct(self) -> Any:
        """Be Django's own field to migrations: the column is the same."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs
