"""URLs of the project: which belongs to whom."""

from baton_messaging.ui.triage.pages import triage_page
from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path
from django.views.generic import RedirectView

from config.api import api

admin.autodiscover()  # here, because only who serves pages needs them: config/web/admin_site.py

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("login/", LoginView.as_view(template_name="login.html", redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("exports/", include("orders.exports.urls")),
    path("orders/<uuid:subject_id>/triage/", admin.site.admin_view(triage_page), name="order_triage"),
    path("", include("orders.urls")),
    path("", include("baton_messaging.urls")),
    path("", include("baton_messaging.ui.urls")),
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),  # unless an app above has a page there
]

handler400 = "config.web.error_pages.bad_request"
handler403 = "config.web.error_pages.permission_denied"
handler404 = "config.web.error_pages.page_not_found"
handler500 = "config.web.error_pages.server_error"
