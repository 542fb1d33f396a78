"""The project's URLs, and the plain view beside them."""

from django.urls import include, path

from benchmarks.views import place_order

urlpatterns = [
    path("plain/orders", place_order),
    path("", include("config.urls")),
]
