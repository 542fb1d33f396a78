"""Settings of a role or database as diagnoses: those by which work that is well written fails, or is lost."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.db import connection
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource

#: A time-out on the role below this ends statements that are merely busy. Seconds.
MIN_TIMEOUT_SECONDS: Final = 30.0
#: Below this, statements of relay and workers do not come to their end at all.
MIN_STATEMENT_SECONDS: Final = 0.5
#: Below this, each lock that two of them want for a moment ends one of them.
MIN_LOCK_SECONDS: Final = 0.05
_UNITS: Final = {"": 0.001, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_TIMEOUTS: Final = (
    "statement_timeout",
    "lock_timeout",
    "transaction_timeout",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
)


def harmful_settings(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return the settings of our role, our database or the server that are in the way."""
    for setting in (*_of_ours(facts), *_of_the_server(facts)):
        name, value = setting["name"], setting["value"]
        if _is_harmful(name, value):
            stops_work = _ends_all_work(name, value)
            yield finding(
                resource.DATABASE if stops_work else Resource(Kind.SETTING, name),
                format_lazy(_("{name} of the database's role"), name=name),
                found=_found(setting),
                wanted=_("the server's default"),
                remedy=_("Take it back: it ends work that is only busy, or lets committed work be lost."),
                command=_reset(setting),
                stops_work=stops_work,
            )


def _found(setting: Mapping[str, Any]) -> Text:
    if setting.get("is_servers"):
        return format_lazy(_("{name} = {value}, set for the whole server"), **setting)
    return format_lazy(
        _("{name} = {value}, set for role {user}, database {database}"),
        name=setting["name"],
        value=setting["value"],
        user=setting.get("user") or _("every one"),
        database=setting.get("database") or _("every one"),
    )


def read_only_setting(facts: Mapping[str, Any]) -> str:
    """Return the command that makes transactions writable again."""
    for setting in _of_ours(facts):
        if setting["name"] == "default_transaction_read_only":
            return _reset(setting)
    return _reset({"name": "default_transaction_read_only", "is_servers": True})


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


def _ends_all_work(name: str, value: str) -> bool:
    if name not in ("statement_timeout", "transaction_timeout", "lock_timeout"):
        return False
    return 0 < _seconds(value) < (MIN_LOCK_SECONDS if name == "lock_timeout" else MIN_STATEMENT_SECONDS)


def _is_harmful(name: str, value: str) -> bool:
    match name:
        case "default_transaction_read_only":
            return value == "on"
        case "session_replication_role":
            return value != "origin"
        case "synchronous_commit":
            return value == "off"
        case _ if name in _TIMEOUTS:
            return 0 < _seconds(value) < MIN_TIMEOUT_SECONDS
        case _:
            return False


def _seconds(value: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value)
    return float(match[1]) * _UNITS.get(match[2], 0.0) if match else 0.0


def _reset(setting: Mapping[str, Any]) -> str:
    user, database = setting.get("user"), setting.get("database")
    if setting.get("is_servers"):
        return commands.sql(f"ALTER SYSTEM RESET {setting['name']}", "SELECT pg_reload_conf()")
    if not user:
        return commands.sql(f'ALTER DATABASE "{database}" RESET {setting["name"]}')
    within = f' IN DATABASE "{database}"' if database else ""
    return commands.sql(f'ALTER ROLE "{user}"{within} RESET {setting["name"]}')
