r"""Censoring keeps secrets out of what Celery prints of its configuration: reports, remote control, Flower.

Celery itself knows some names of its own. Of settings with a namespace it also prints the names as they are written
(``CELERY_BROKER_READ_URL``), and with them all of Django's settings, whichever package they are for. Here a value is
printed only if the setting is Celery's; passwords in addresses go at any depth, and so does whatever a name says is a
secret.

*Source*: ``celery.app.utils.filter_hidden_settings`` (5.7), which ``Settings.table`` calls for all of them.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from celery.app import utils
from celery.app.defaults import NAMESPACES, flatten

MASK: Final = "********"
_IS_SECRET: Final = re.compile(
    r"PASS|SECRET|TOKEN|CREDENTIAL|SIGNATURE|API_?KEY|ACCESS_KEY|DATABASE|BEAT_DBURI|CONNECTION_STRING|(^|_)KEY$",
    re.IGNORECASE,
).search
# Of an address what stands before the last @ of its authority: with a slash in it, it would be none.
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s;]*@")
_IN_QUERY: Final = re.compile(r"(?<=[?&])(password|passwd|secret|token|sig)=[^&\s;]*", re.IGNORECASE)
_CELERYS: Final = frozenset(option[0] for option in flatten(NAMESPACES))
_NAMESPACE: Final = "CELERY_"


def install() -> None:
    """Let Celery print nothing but what ``censored`` leaves. Repeating it is harmless."""
    utils.filter_hidden_settings = censored_settings  # type: ignore[assignment]  # the stubs want a dict


def censored_settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return Celery's own settings of a configuration, without secrets."""
    return {name: censored(value, name) for name, value in configuration.items() if _is_celerys(name)}


def censored(value: Any, name: str = "") -> Any:
    """Return a value without secrets: passwords in addresses, and all that its name says is one.

    >>> censored({"url": "redis://:hunter2@h1:1;redis://:hunter2@h2:1", "kwargs": [{"password": "hunter2"}]})
    {'url': 'redis://********@h1:1;redis://********@h2:1', 'kwargs': [{'password': '********'}]}
    """
    if value and _IS_SECRET(name):
        return MASK
    if isinstance(value, Mapping):
        return {key: censored(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [censored(inner) for inner in value]
    if isinstance(value, str):
        return _IN_QUERY.sub(rf"\1={MASK}", _CREDENTIALS.sub(f"{MASK}@", value))
    return value


def _is_celerys(name: str) -> bool:
    return name.startswith(_NAMESPACE) or name.lower() in _CELERYS
