"""Names of settings and variables that nobody reads: a typo would be silently ignored."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from celery.app.defaults import DEFAULTS
from django.conf import settings
from django.core.checks import CheckMessage, Error

from baton_messaging.conf import BadSetting, baton

_CELERY_KEYS = frozenset(f"CELERY_{key.upper()}" for key in DEFAULTS)


def check_setting_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse settings that look like ours or Celery's and are neither: a typo would be silently ignored."""
    celery_names = [name for name in dir(settings) if name.startswith("CELERY_")]
    return _unknown(celery_names, _CELERY_KEYS, what="Celery setting", check_id="baton.E001")


def check_own_setting(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse a setting ``BATON`` that cannot be read."""
    try:
        baton()
    except BadSetting as error:
        return [
            Error(str(error), hint="The keys, with their defaults, are in baton_messaging/conf.py.", id="baton.E002")
        ]
    return []


def check_variable_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse variables of the environment with our prefixes that nothing reads."""
    known = frozenset(settings.KNOWN_VARIABLES)
    named_like_ours = [name for name in os.environ if name.startswith(("CELERY_", "BATON_"))]
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
