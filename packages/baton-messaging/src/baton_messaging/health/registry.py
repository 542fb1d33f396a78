"""Health checks are registered under the name by which a consumer depends on them.

The package's own are imported when they are asked for, those of an app from its ``health.py``.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.condition import Health
from baton_messaging.routing.discovery import Registry

Check = Callable[[Deadline], Health]

#: A command must not wait for what it does not ask: each module is imported with its first question.
_OWN: Final = {name: f"baton_messaging.health.{name}" for name in ("database", "broker", "mail", "network", "machine")}
_CHECKS: Final = Registry[str, Check]("health")


def health_check(name: str) -> Callable[[Check], Check]:
    """Register a function that does with a server what the work does with it, and says how that went.

    A second one of the same name takes the place of the first.
    """

    def register(function: Check) -> Check:
        _CHECKS.add(name, function)
        return function

    return register


def check_names() -> list[str]:
    """Return the names of all checks: the package's own, then those of the apps."""
    return list(dict.fromkeys((*_OWN, *_CHECKS.all())))


def check_named(name: str) -> Check | None:
    """Return a check, or None if there is none of that name."""
    if name in _OWN and name not in _CHECKS.all():  # an app's own of that name comes first
        import_module(_OWN[name])
    return _CHECKS.get(name)
