"""Whose source the checks read: the project's, and of no package, wherever it is installed."""

import sys
from pathlib import Path

import pytest
from baton_messaging.checks.source import project_apps
from django.conf import settings
from django.test import override_settings


def names() -> set[str]:
    return {config.name for config in project_apps()}


def test_the_projects_apps_are_read_and_no_packages() -> None:
    with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, "baton_dev"]):
        found = names()
    assert {"tests.parcels", "tests.sample"} <= found
    assert not {name for name in found if name.startswith(("django", "unfold", "ninja", "baton"))}


@pytest.mark.parametrize(("folder", "is_read"), [("site-packages", False), ("src", True)])
def test_an_app_is_a_packages_by_where_it_lies(
    folder: str, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / folder / "elsewhere_installed"
    root.mkdir(parents=True)
    (root / "__init__.py").touch()
    monkeypatch.syspath_prepend(root.parent)
    try:
        with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, root.name]):
            assert (root.name in names()) is is_read
    finally:
        sys.modules.pop(root.name, None)
