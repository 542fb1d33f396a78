"""System checks of exports: a storage that is missing, or that is public."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.files.storage import FileSystemStorage

from orders.exports.files import STORAGE_ALIAS, storage


@register()
def check_storage(**_kwargs: Any) -> list[CheckMessage]:
    """Refuse to run without a storage for exports, and to keep them where the web server gives files to anybody."""
    if STORAGE_ALIAS not in settings.STORAGES:
        return [Error(f'Expected STORAGES to name "{STORAGE_ALIAS}", got no such storage.', id="orders.E001")]
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
                id="orders.E002",
            )
        ]
    return []
