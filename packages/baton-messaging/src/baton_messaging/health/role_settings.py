"""Settings of role, database and server that are in force for us, and those by which no work comes to its end.

A time-out of a millisecond lets a short question through, and ends each statement of the work: the server seems well.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db import connection

#: Below this, statements of relay and workers do not come to their end at all.
MIN_STATEMENT_SECONDS: Final = 0.5
#: Below this, each lock that two of them want for a moment ends one of them.
MIN_LOCK_SECONDS: Final = 0.05
_UNITS: Final = {"": 0.001, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}


def settings_in_force(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return what is set for our role or database, and for the whole server (``is_servers``)."""
    yield from _of_ours(facts)
    yield from _of_the_server(facts)


def ending_setting(facts: Mapping[str, Any]) -> str:
    """Return the setting by which no work comes to its end; empty if there is none."""
    told = (
        f"{one['name']} = {one['value']}"
        for one in settings_in_force(facts)
        if ends_all_work(one["name"], one["value"])
    )
    return next(told, "")


def ends_all_work(name: str, value: str) -> bool:
    """Tell whether statements, transactions or locks get no time at all."""
    if name not in ("statement_timeout", "transaction_timeout", "lock_timeout"):
        return False
    return 0 < seconds_of(value) < (MIN_LOCK_SECONDS if name == "lock_timeout" else MIN_STATEMENT_SECONDS)


def seconds_of(value: str) -> float:
    """Return a time-out as PostgreSQL writes it; 0 where there is none.

    >>> seconds_of("90s"), seconds_of("200ms"), seconds_of("1500"), seconds_of("0")
    (90.0, 0.2, 1.5, 0.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value)
    return float(match[1]) * _UNITS.get(match[2], 0.0) if match else 0.0


def _of_ours(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return what is set for our role, our database, or both."""
    ours = (facts.get("server") or {}).get("user")
    return (setting for setting in facts.get("settings") or () if setting.get("user") in (None, ours))


def _of_the_server(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return what is in force and neither of the role nor of the database, nor of our own connection."""
    theirs = {setting["name"] for setting in facts.get("settings") or ()}
    own = str(connection.settings_dict["OPTIONS"].get("options", ""))
    for setting in facts.get("settings_in_force") or ():
        if setting["name"] not in theirs and setting["name"] not in own:
            yield {**setting, "is_servers": True}
