"""The mail log, to be read: which mail went to whom, and when. To send one again, replay its message."""

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from notifications.models import MailLog


@admin.register(MailLog)
class MailLogAdmin(ModelAdmin):
    """Read-only: a row that were deleted would let its mail go out again."""

    list_display = ("order_id", "kind", "outcome", "language", "created_at")
    list_filter = ("kind", "outcome", "language")
    search_fields = ("order_id__exact", "message_id__exact")
    date_hierarchy = "created_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Leave the log to the consumers."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: MailLog | None = None) -> bool:
        """Leave the log to the consumers."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: MailLog | None = None) -> bool:
        """Leave the log to the consumers."""
        return False
