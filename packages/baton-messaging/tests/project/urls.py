"""Everything of the package that has an address."""

from baton_messaging.ui.api.consumers import router as consumers_router
from baton_messaging.ui.api.dead_letters import router as dead_letters_router
from baton_messaging.ui.api.triage import router_for as triage_router_for
from baton_messaging.ui.triage.pages import triage_page
from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path
from ninja import NinjaAPI

from tests.parcels.views import hand_in

api = NinjaAPI(title="Tests", urls_namespace="api")
api.add_router("/dead-letters", dead_letters_router)
api.add_router("/consumers", consumers_router)
api.add_router("/samples", triage_router_for("sample"))

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("parcels/", hand_in),
    path("login/", LoginView.as_view(template_name="admin/login.html"), name="login"),
    path("samples/<uuid:subject_id>/triage/", admin.site.admin_view(triage_page), name="sample_triage"),
    path("", include("baton_messaging.urls")),
    path("", include("baton_messaging.ui.urls")),
]
