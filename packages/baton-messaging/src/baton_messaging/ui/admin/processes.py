"""The processes that live, and what they have in hand."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from baton_messaging.models import Heartbeat
from baton_messaging.ui.admin.read_only import ReadOnlyAdmin


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin[Heartbeat]):
    """Read-only: a process writes its own row, and no other can."""

    list_display = ("name", "role", "lives", "is_consuming", "beaten_at", "last_finished_at", "received_count")
    list_filter = ("role",)
    ordering = ("role", "name")

    @admin.display(description=_("lives"), boolean=True)
    def lives(self, process: Heartbeat) -> bool:
        """Tell whether its last sign of life is recent."""
        return process.is_fresh

    def get_fields(self, request: HttpRequest, obj: Heartbeat | None = None) -> Any:
        """Show all columns."""
        return [field.name for field in Heartbeat._meta.fields if field.name != "id"]
