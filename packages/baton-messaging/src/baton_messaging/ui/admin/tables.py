"""Tables of the machinery in the admin: outbox, inbox, failed attempts and heartbeats."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from baton_messaging.models import Attempt, Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.ui.admin.read_only import ReadOnlyAdmin


@admin.register(OutboxMessage)
class OutboxMessageAdmin(ReadOnlyAdmin[OutboxMessage]):
    """What was published, and whether the broker has it."""

    list_display = ("message_id", "name", "key", "occurred_at", "published_at", "last_error", "whose")
    list_filter = (("published_at", admin.EmptyFieldListFilter), "name")
    search_fields = ("key__exact", "message_id__exact", "correlation_id__exact")
    search_help_text = _("The id of an order, a message or a correlation")
    ordering = ("-id",)

    @admin.display(description=_("Whose is it?"))
    def whose(self, message: OutboxMessage) -> SafeString:
        """Return the way to triage."""
        return format_html('<a href="{}">{}</a>', reverse("triage_of", args=[message.message_id]), _("Triage"))


@admin.register(ProcessedMessage)
class ProcessedMessageAdmin(ReadOnlyAdmin[ProcessedMessage]):
    """The inbox: which consumer has processed which message."""

    list_display = ("message_id", "consumer", "processed_at", "duration_ms", "worker")
    list_filter = ("consumer",)
    search_fields = ("message_id__exact",)
    search_help_text = _("The id of a message")
    ordering = ("-id",)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin[Attempt]):
    """Failed attempts, and when the next one is due."""

    list_display = (
        "message_id",
        "consumer",
        "attempt",
        "error_class",
        "error_message",
        "failed_at",
        "due_at",
        "sent_at",
    )
    list_filter = (("sent_at", admin.EmptyFieldListFilter), "consumer", "error_class")
    search_fields = ("message_id__exact", "key__exact")
    search_help_text = _("The id of a message or an order")
    ordering = ("-id",)


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin[Heartbeat]):
    """Read-only: a process writes its own row, and no other can."""

    list_display = ("name", "role", "lives", "is_consuming", "beaten_at", "last_finished_at", "received_count")
    list_filter = ("role",)
    ordering = ("role", "name")

    @admin.display(description=_("lives"), boolean=True)
    def lives(self, process: Heartbeat) -> bool:
        """Tell whether its last heartbeat is recent."""
        return process.is_fresh

    def get_fields(self, request: HttpRequest, obj: Heartbeat | None = None) -> Any:
        """Show all columns."""
        return [field.name for field in Heartbeat._meta.fields if field.name != "id"]
