"""The base of every admin page over rows that only the machinery may write, for both admins: Django's and Unfold's."""

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.contrib.admin.widgets import AdminTextInputWidget
from django.db import models
from django.forms import Select
from django.http import HttpRequest

from baton_messaging.ui.frame import has_unfold

__all__ = ["ReadOnlyAdmin", "SelectWidget", "TextInputWidget"]

Row = TypeVar("Row", bound=models.Model)

if TYPE_CHECKING or not has_unfold():
    from django.contrib.admin import ModelAdmin

    SelectWidget, TextInputWidget = Select, AdminTextInputWidget
else:
    from unfold.admin import ModelAdmin
    from unfold.widgets import UnfoldAdminSelectWidget as SelectWidget
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInputWidget


class ReadOnlyAdmin(ModelAdmin, Generic[Row]):  # type: ignore[type-arg]  # generic in the stubs only
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
