"""System checks of exports: limits that contradict the broker's, and a storage that gives files to anybody."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.files.storage import FileSystemStorage

from orders.exports.files import STORAGE_ALIAS, storage


@register()
def check_time_limit(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse a time limit that RabbitMQ's consumer timeout would forestall (F41)."""
    from orders.tasks import BUILD_TIME_LIMIT  # noqa: PLC0415 - tasks are imported when all apps are there

    timeout = settings.EXPORTS["BROKER_CONSUMER_TIMEOUT_SECONDS"]
    if timeout > BUILD_TIME_LIMIT:
        return []
    return [
        Error(
            f"Expected BUILD_TIME_LIMIT < BROKER_CONSUMER_TIMEOUT_SECONDS, got {BUILD_TIME_LIMIT} s and {timeout} s.",
            hint="RabbitMQ would give the message to another worker while the first one is at it. "
            "Lower the limit in orders/tasks.py, or raise RabbitMQ's consumer_timeout and the setting.",
            id="orders.E001",
        )
    ]


@register()
def check_storage(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse to run without a storage for exports, and to keep them where the web server gives files to anybody."""
    if STORAGE_ALIAS not in settings.STORAGES:
        return [Error(f'Expected STORAGES to name "{STORAGE_ALIAS}", got no such storage.', id="orders.E002")]
    files = storage()
    if not isinstance(files, FileSystemStorage):
        return []
    location = Path(files.location).resolve()
    public = [Path(root).resolve() for root in (settings.MEDIA_ROOT, settings.STATIC_ROOT) if root]
    if any(location.is_relative_to(root) for root in public):
        return [
            Error(
                "Expected exports outside of MEDIA_ROOT and STATIC_ROOT, got a folder that is served to anybody.",
                hint=f'Change the location of STORAGES["{STORAGE_ALIAS}"].',
                id="orders.E003",
            )
        ]
    return []
