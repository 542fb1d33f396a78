"""The dead letters in the admin: the desk's pages, under the addresses that the admin links to."""

from django.contrib import admin
from django.urls import URLPattern, path

from baton_messaging.audit.rights import Right
from baton_messaging.models import DeadLetter
from baton_messaging.ui.admin.read_only import ReadOnlyAdmin
from baton_messaging.ui.desk.dead_letter import dead_letter_page, edit_page
from baton_messaging.ui.desk.lists import audit_list, listing, overview
from baton_messaging.ui.desk.operations import DiscardPage, RedirectPage, ReplayPage, RestorePage
from baton_messaging.ui.desk.replays import release_replay, replay_list, replay_progress, stop_replay
from baton_messaging.ui.guard import View, needing

ROUTES: list[tuple[str, View, str]] = [
    ("", overview, "changelist"),
    ("letters/", listing, "list"),
    ("replay/", ReplayPage.as_view(), "replay"),
    ("discard/", DiscardPage.as_view(), "discard"),
    ("restore/", RestorePage.as_view(), "restore"),
    ("redirect/", RedirectPage.as_view(), "redirect"),
    ("replays/", replay_list, "replays"),
    ("replays/<int:replay_id>/", replay_progress, "replay_progress"),
    ("replays/<int:replay_id>/stop/", stop_replay, "replay_stop"),
    ("replays/<int:replay_id>/release/", release_replay, "replay_release"),
    ("audit/", audit_list, "audit"),
    ("<int:dead_letter_id>/change/", dead_letter_page, "change"),
    ("<int:dead_letter_id>/edit/", edit_page, "edit"),
]


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin[DeadLetter]):
    """The desk."""

    def get_urls(self) -> list[URLPattern]:
        """Return the desk's pages only: nothing of the admin's own changes a dead letter."""
        staff_only = self.admin_site.admin_view
        return [
            path(route, staff_only(needing(Right.SEE_DEAD_LETTERS)(view)), name=f"baton_messaging_deadletter_{name}")
            for route, view, name in ROUTES
        ]
