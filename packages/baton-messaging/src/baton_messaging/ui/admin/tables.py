"""Outbox, inbox and failed attempts."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from baton_messaging.models import Attempt, OutboxMessage, ProcessedMessage
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
