"""Names of settings and variables that nobody reads: a typo would be silently ignored."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from celery.app.defaults import DEFAULTS
from django.conf import settings
from django.core.checks import CheckMessage, Error

MESSAGING_KEYS = frozenset(
    {
        "QUEUES",
        "RELAY_BATCH_SIZE",
        "RELAY_LEASE_SECONDS",
        "RELAY_POLL_SECONDS",
        "RELAY_MAX_SEND_FAILURES",
        "BREAKER_MESSAGE_COUNT",
        "BREAKER_PROBE_SECONDS",
        "BREAKER_MAX_PROBE_SECONDS",
        "BREAKER_PATIENCE_SECONDS",
        "DATABASE_WAIT_SECONDS",
        "BROKER_CONSUMER_TIMEOUT_SECONDS",
        "WEB_CONNECTION_COUNT",
        "RETRY_FLOOR_SECONDS",
        "OUTBOX_RETENTION_DAYS",
        "INBOX_RETENTION_DAYS",
        "RESULT_RETENTION_DAYS",
        "DEAD_LETTER_RETENTION_DAYS",
        "MINUTE_RETENTION_DAYS",
        "ALERT_PERIOD_SECONDS",
        "ALERT_GROWTH_COUNTS",
        "ALERT_AGE_SECONDS",
        "DESK_ORIGIN",
        "REPLAY_CANARY_COUNT",
        "REPLAY_RATE_PER_SECOND",
        "PRUNE_BATCH_SIZE",
        "HEARTBEAT_SECONDS",
        "HEARTBEAT_STALE_SECONDS",
        "RECONCILE_GRACE_SECONDS",
    }
)
_CELERY_KEYS = frozenset(f"CELERY_{key.upper()}" for key in DEFAULTS)


def check_setting_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse settings that look like ours or Celery's and are neither: a typo would be silently ignored."""
    celery_names = [name for name in dir(settings) if name.startswith("CELERY_")]
    return [
        *_unknown(celery_names, _CELERY_KEYS, what="Celery setting", check_id="baton.E001"),
        *_unknown(settings.MESSAGING, MESSAGING_KEYS, what="key of MESSAGING", check_id="baton.E002"),
        *_missing(settings.MESSAGING),
    ]


def check_variable_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse variables of the environment with our prefixes that nothing reads."""
    known = frozenset(settings.KNOWN_VARIABLES)
    named_like_ours = [name for name in os.environ if name.startswith(("CELERY_", "MESSAGING_", "BATON_"))]
    return _unknown(named_like_ours, known, what="variable of the environment", check_id="baton.E003")


def _unknown(names: Iterable[str], known: frozenset[str], *, what: str, check_id: str) -> list[CheckMessage]:
    return [
        Error(f"Unknown {what}: {name}.", hint=_nearest(name, known), id=check_id)
        for name in sorted(names)
        if name not in known
    ]


def _nearest(name: str, known: frozenset[str]) -> str:
    matches = get_close_matches(name, known, n=1, cutoff=0)
    return f"Did you mean {matches[0]}?"


def _missing(given: Iterable[str]) -> list[CheckMessage]:
    return [
        Error(f"Missing key of MESSAGING: {key}.", id="baton.E002") for key in sorted(MESSAGING_KEYS - set(given))
    ]
