"""What the consumers of orders depend on is checked where they run."""

from pathlib import Path

from baton_messaging.extend.health import Condition, run_checks
from django.core.files.storage import FileSystemStorage, storages
from pytest_django import Settings

from orders.tasks import build_export


def test_storage_of_exports_is_what_building_them_depends_on(settings: Settings, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "exports": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        },
    }
    assert isinstance(storages["exports"], FileSystemStorage)

    (health,) = run_checks(build_export.depends_on, deadline_seconds=10)

    assert (health.name, health.condition) == ("exports", Condition.OK)
    assert health.facts["identity"] == (tmp_path / ".baton-storage-id").read_text()
