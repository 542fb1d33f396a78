"""Names of settings and variables that nothing reads: a typo would be silently ignored."""

import os
from difflib import get_close_matches
from typing import Any, Final

from celery import current_app
from celery.app.defaults import DEFAULTS
from django.conf import settings
from django.core.checks import CheckMessage, Error

_CELERY_KEYS = frozenset(f"CELERY_{key.upper()}" for key in DEFAULTS)
#: By the name without its section, which Celery 3 did not have: CELERY_ROUTES is CELERY_TASK_ROUTES today.
_WITHOUT_SECTION = {f"CELERY_{key.partition('_')[2].upper()}": f"CELERY_{key.upper()}" for key in DEFAULTS}
#: How like a setting of Celery's a name must be to be a typo of it: one letter in ten is another. Less like it is the
#: setting of another package, or of the project.
_TYPO_LIKENESS: Final = 0.9


def check_setting_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse settings that are Celery's but for a slip: Celery would silently ignore them."""
    app: Any = current_app  # whose stubs do not know its namespace
    if app.namespace != "CELERY":
        return []  # then Celery reads these names in another way, or not at all
    unknown = {name for name in dir(settings) if name.startswith("CELERY_")} - _CELERY_KEYS
    meant = {name: _meant(name) for name in sorted(unknown)}
    return [
        Error(f"Unknown Celery setting: {name}.", hint=f"Did you mean {right}?", id="baton.E001")
        for name, right in meant.items()
        if right
    ]


def check_variable_names(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse variables of the environment with our prefixes that nothing reads, if the project says which it reads."""
    known = frozenset(getattr(settings, "KNOWN_VARIABLES", ()))
    named_like_ours = [name for name in os.environ if name.startswith(("CELERY_", "BATON_"))]
    return [
        Error(f"Unknown variable of the environment: {name}.", hint=f"Did you mean {nearest}?", id="baton.E003")
        for name in sorted({*named_like_ours} - known)
        for nearest in get_close_matches(name, known, n=1, cutoff=0)  # one, unless none is known
    ]


def _meant(name: str) -> str:
    """Return the setting of Celery's that a name is a slip of, or "" when it is none."""
    if name in _WITHOUT_SECTION:
        return _WITHOUT_SECTION[name]
    return "".join(get_close_matches(name, _CELERY_KEYS, n=1, cutoff=_TYPO_LIKENESS))
