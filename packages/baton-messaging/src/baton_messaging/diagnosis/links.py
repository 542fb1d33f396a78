"""Links to the pages, in a project that has them: without ``baton_messaging.ui`` they are empty."""

import re
from typing import Any, Final
from urllib.parse import urlencode

from django.apps import apps
from django.urls import reverse

_PLAIN: Final = re.compile(r"[\w:@-][\w:.@-]*", re.ASCII)


def has_path(key: str) -> bool:
    """Tell whether a key can be part of a path: not so with a line break, or with dots that browsers resolve."""
    return _PLAIN.fullmatch(key) is not None


def triage_link(key: str) -> str:
    """Return where triage of a key is shown."""
    return _link("triage_of", key) if has_path(key) else _link("triage", id=key)


def dead_letter_link(dead_letter_id: int) -> str:
    """Return where a dead letter is shown."""
    return _link("admin:baton_messaging_deadletter_change", dead_letter_id)


def list_link(model: str, **query: Any) -> str:
    """Return where the rows of one of our tables are listed."""
    return _link(f"admin:baton_messaging_{model}_changelist", **query)


def dead_letters_link(**query: Any) -> str:
    """Return where the dead letters of a selection are listed."""
    return _link("admin:baton_messaging_deadletter_list", **query)


def doctor_link() -> str:
    """Return where all findings are shown."""
    return _link("doctor")


def _link(name: str, *args: Any, **query: Any) -> str:
    if not apps.is_installed("baton_messaging.ui"):
        return ""
    path = reverse(name, args=args)
    return f"{path}?{urlencode(query)}" if query else path
