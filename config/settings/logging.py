"""Structured logs: one event per outcome, key=value, on stderr; in debug laid out for the eye, else as logfmt."""

import logging
from typing import Any

import structlog

from config.env import env

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

_RENDERER: Any = (
    structlog.dev.ConsoleRenderer(
        colors=False,
        pad_event_to=20,
        exception_formatter=structlog.dev.plain_traceback,  # the rich one prints local variables: personal data
    )
    if env.DJANGO_DEBUG
    else structlog.processors.LogfmtRenderer(
        key_order=["timestamp", "level", "logger", "event"], drop_missing=True, bool_as_flag=False
    )
)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _SHARED,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _RENDERER,
            ],
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # One line per task would drown the others; the consumer's own event says more, and no arguments.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}

TRACING_ENDPOINT = env.OTEL_EXPORTER_OTLP_ENDPOINT  # baton_messaging/messages/tracing.py; empty: no traces

DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False  # an address is personal data
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # one line per request, when it has ended

structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_SHARED,
        *([] if env.DJANGO_DEBUG else [structlog.processors.format_exc_info]),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
