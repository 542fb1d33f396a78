"""The pages as a Django app of their own, so that a project without them needs none of what they need."""

from importlib.util import find_spec
from typing import Final

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured

#: Packages of the extra ``ui``.
EXTRA: Final = ("ninja", "django_htmx")


class BatonPagesConfig(AppConfig):
    """Desk, board, triage and API. ``INSTALLED_APPS`` names it beside ``baton_messaging``; the extra is ``ui``."""

    name = "baton_messaging.ui"
    label = "baton_messaging_ui"
    verbose_name = "Baton"

    def ready(self) -> None:
        """Refuse to start without what the pages need. Only looked for: a worker imports none of it."""
        missing = [package for package in EXTRA if find_spec(package) is None]
        if missing:
            raise ImproperlyConfigured(
                "Install the extra `ui` of baton-messaging, or take baton_messaging.ui out of INSTALLED_APPS: "
                f"{' and '.join(missing)} cannot be imported."
            )
        if not apps.is_installed("django_htmx"):
            raise ImproperlyConfigured(
                "Add django_htmx to INSTALLED_APPS: the pages of baton_messaging.ui load its script."
            )
