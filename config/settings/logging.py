"""Structured logs: one event per outcome, key=value, on stderr; in debug laid out for the eye, else as logfmt."""

import logging

from config.env import env
from config.logs import LOGGING, configure_structlog

__all__ = [
    "DJANGO_STRUCTLOG_IP_LOGGING_ENABLED",
    "DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL",
    "DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID",
    "LOGGING",
    "TRACING_ENDPOINT",
]

TRACING_ENDPOINT = env.OTEL_EXPORTER_OTLP_ENDPOINT  # baton_messaging/messages/tracing.py; empty: no traces

DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False  # an address is personal data
DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = env.PROXY_COUNT > 0  # X-Request-ID, to find a request in its log, too
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # one line per request, when it has ended

configure_structlog()
