"""Prerequisites of all other questions: the setting BATON, the apps beside Baton's, and a PostgreSQL.

Where one is missing nothing else is asked: the modules that would be asked cannot even be imported.
"""

from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db import DEFAULT_DB_ALIAS, connections

from baton_messaging.conf import BadSetting, baton

#: Apps that INSTALLED_APPS must name beside Baton's, and what each is needed for.
APPS: Final = {
    "django.contrib.postgres": "Baton's tables have fields of PostgreSQL.",
    "django_celery_results": "Results of tasks are kept in its tables, and pruned by Baton.",
}


def check_own_setting(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse a setting ``BATON`` that cannot be read."""
    try:
        baton()
    except BadSetting as error:
        return [
            Error(str(error), hint="The keys, with their defaults, are in baton_messaging/conf.py.", id="baton.E002")
        ]
    return []


def check_apps(**_kwargs: Any) -> list[CheckMessage]:
    """Find apps that are missing."""
    return [
        Error(
            f"INSTALLED_APPS: expected {name}, got none. {reason}",
            hint=f'Add: INSTALLED_APPS += ["{name}"]',
            id="baton.E004",
        )
        for name, reason in APPS.items()
        if not apps.is_installed(name)
    ]


def check_database(**_kwargs: Any) -> list[CheckMessage]:
    """Find another database than PostgreSQL. It is not asked whether it answers."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    if vendor == "postgresql":
        return []
    engine = settings.DATABASES[DEFAULT_DB_ALIAS]["ENGINE"]
    return [
        Error(
            f"DATABASES['{DEFAULT_DB_ALIAS}']: expected PostgreSQL, got {engine}. Outbox, inbox and leases rely on it.",
            hint='Set: "ENGINE": "django.db.backends.postgresql"',
            id="baton.E011",
        )
    ]
