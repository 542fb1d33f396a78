"""Health of the web process: alive (/healthz), and able to serve (/readyz). Triage, for staff."""

from django.contrib import admin
from django.urls import path

from messaging import health
from messaging.triage.pages import stuck_page, triage_page

staff_only = admin.site.admin_view

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("triage/", staff_only(stuck_page), name="triage"),
    path("triage/<path:subject_id>/", staff_only(triage_page), name="triage_of"),
]
