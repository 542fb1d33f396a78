"""The base of every admin page over rows that only the machinery may write."""

from typing import Any, Generic, TypeVar

from django.db import models
from django.http import HttpRequest
from unfold.admin import ModelAdmin

Row = TypeVar("Row", bound=models.Model)


class ReadOnlyAdmin(ModelAdmin, Generic[Row]):
    """Show rows; offer no way to add, change or delete them, whatever permissions a user has."""

    show_full_result_count = False  # a footnote that counts millions of rows
    list_per_page = 50
    actions = None

    def has_add_permission(self, _request: HttpRequest, *_args: Any) -> bool:
        """Refuse: rows come from publish() and the consumers."""
        return False

    def has_change_permission(self, _request: HttpRequest, _row: Row | None = None) -> bool:
        """Refuse: a changed row would lie about what happened."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _row: Row | None = None) -> bool:
        """Refuse: deleting an inbox row lets a message take effect twice. Pruning deletes what is old enough."""
        return False
