"""Health of the web process: alive (/healthz), and able to serve (/readyz)."""

from django.urls import path

from messaging import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
]
