"""Settings of a role or database as diagnoses: those by which work that is well written fails, or is lost."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.health import resource
from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.role_settings import ends_all_work, seconds_of, settings_in_force

#: A time-out on the role below this ends statements that are merely busy. Seconds.
MIN_TIMEOUT_SECONDS: Final = 30.0
_TIMEOUTS: Final = (
    "statement_timeout",
    "lock_timeout",
    "transaction_timeout",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
)


def harmful_settings(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return the settings of our role, our database or the server that are in the way."""
    for setting in settings_in_force(facts):
        name, value = setting["name"], setting["value"]
        if _is_harmful(name, value):
            stops_work = ends_all_work(name, value)
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
    for setting in settings_in_force(facts):
        if setting["name"] == "default_transaction_read_only":
            return _reset(setting)
    return _reset({"name": "default_transaction_read_only", "is_servers": True})


def _is_harmful(name: str, value: str) -> bool:
    match name:
        case "default_transaction_read_only":
            return value == "on"
        case "session_replication_role":
            return value != "origin"
        case "synchronous_commit":
            return value == "off"
        case _ if name in _TIMEOUTS:
            return 0 < seconds_of(value) < MIN_TIMEOUT_SECONDS
        case _:
            return False


def _reset(setting: Mapping[str, Any]) -> str:
    user, database = setting.get("user"), setting.get("database")
    if setting.get("is_servers"):
        return commands.sql(f"ALTER SYSTEM RESET {setting['name']}", "SELECT pg_reload_conf()")
    if not user:
        return commands.sql(f'ALTER DATABASE "{database}" RESET {setting["name"]}')
    within = f' IN DATABASE "{database}"' if database else ""
    return commands.sql(f'ALTER ROLE "{user}"{within} RESET {setting["name"]}')
