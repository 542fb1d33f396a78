"""Pages for the staff: the board (/ops/), the doctor (/doctor/), triage (/triage/) and the glossary (/glossary/).

The desk has its addresses within the admin.
"""

from django.contrib import admin
from django.urls import path

from baton_messaging.ui.board.doctor import doctor
from baton_messaging.ui.board.views import board
from baton_messaging.ui.glossary import glossary
from baton_messaging.ui.triage.pages import stuck_page, triage_page

staff_only = admin.site.admin_view

urlpatterns = [
    path("ops/", staff_only(board), name="board"),
    path("doctor/", staff_only(doctor), name="doctor"),
    path("glossary/", staff_only(glossary), name="glossary"),
    path("triage/", staff_only(stuck_page), name="triage"),
    path("triage/<path:subject_id>/", staff_only(triage_page), name="triage_of"),
]
