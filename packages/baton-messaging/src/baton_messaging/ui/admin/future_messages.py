"""Future messages in the admin: what is due when, by event and key. A page of the desk shows, moves and cancels one."""

from django.contrib import admin
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from baton_messaging.audit.rights import Right
from baton_messaging.models import FutureMessage
from baton_messaging.ui.admin.read_only import ReadOnlyAdmin
from baton_messaging.ui.desk.future_messages import CancelPage, MovePage, future_message_page
from baton_messaging.ui.guard import View, needing


@admin.register(FutureMessage)
class FutureMessageAdmin(ReadOnlyAdmin[FutureMessage]):
    """What is due when."""

    list_display = ("due_at", "name", "key", "published_at", "released_at", "cancelled_at", "cancelled_by")
    list_filter = (("released_at", admin.EmptyFieldListFilter), ("cancelled_at", admin.EmptyFieldListFilter), "name")
    search_fields = ("key__exact", "message_id__exact", "correlation_id__exact")
    search_help_text = _("The id of an order, a message or a correlation")
    ordering = ("due_at", "id")

    def get_urls(self) -> list[URLPattern]:
        """Put the desk's pages before the admin's own."""

        def ours(route: str, view: View, name: str) -> URLPattern:
            guarded = self.admin_site.admin_view(needing(Right.SEE_FUTURE)(view))
            return path(route, guarded, name=f"baton_messaging_futuremessage_{name}")

        return [
            ours("<int:future_id>/change/", future_message_page, "change"),
            ours("<int:future_id>/move/", MovePage.as_view(), "move"),
            ours("<int:future_id>/cancel/", CancelPage.as_view(), "cancel"),
            path("", self.admin_site.admin_view(self.changelist_view), name="baton_messaging_futuremessage_changelist"),
        ]
