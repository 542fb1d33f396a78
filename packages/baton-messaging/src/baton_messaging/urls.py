"""Health of the web process (/healthz, /readyz) and figures for Prometheus (/metrics). For every project.

The pages for people, which need the extra ``ui``, are in ``baton_messaging.ui.urls``.
"""

from django.urls import path

from baton_messaging.observability import health
from baton_messaging.observability.prometheus.views import metrics

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics),
]
