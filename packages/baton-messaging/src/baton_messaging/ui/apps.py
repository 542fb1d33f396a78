"""The pages as a Django app of their own, so that a project without them needs none of what they need."""

from importlib.util import find_spec
from typing import Any, Final

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured

#: Packages of the extra ``ui``.
EXTRA: Final = ("ninja", "django_htmx")
#: Apps that INSTALLED_APPS must name beside the pages, and why.
NEEDED: Final = {
    "baton_messaging": "baton_messaging.ui shows its tables",
    "django.contrib.admin": "baton_messaging.ui has its pages there",
    "django_htmx": "baton_messaging.ui loads its script",
}


class BatonPagesConfig(AppConfig):
    """Desk, board, triage and API. ``INSTALLED_APPS`` names it beside ``baton_messaging``; the extra is ``ui``."""

    name = "baton_messaging.ui"
    label = "baton_messaging_ui"
    verbose_name = "Baton"

    def __init__(self, app_name: str, app_module: Any) -> None:
        """Refuse to start without what the pages need, before the admin imports them. It is looked for only."""
        missing = [package for package in EXTRA if find_spec(package) is None]
        if missing:
            raise ImproperlyConfigured(
                "Install the extra `ui` of baton-messaging, or take baton_messaging.ui out of INSTALLED_APPS: "
                f"{' and '.join(missing)} cannot be imported."
            )
        super().__init__(app_name, app_module)

    def import_models(self) -> None:
        """Refuse to start without the apps that the pages need, before the admin imports them."""
        for name, reason in NEEDED.items():
            if not apps.is_installed(name):
                raise ImproperlyConfigured(f"Add {name} to INSTALLED_APPS: {reason}.")
        super().import_models()
