"""The admin app, whose pages are imported by processes that serve or check them, and not by each command and worker.

Django's own configuration of it imports the ``admin.py`` of every app at each start: forms, views and widgets that a
worker, the relay or ``manage.py triage`` never show (docs/decisions/imports-wait-until-somebody-asks.md). Here
``config/urls.py`` does, as Django's documentation has it for this case, and so does the check of the pages.
"""

from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register


class AdminConfig(SimpleAdminConfig):
    """The admin in the look of Unfold."""

    default_site = "config.web.admin_pages.AdminSite"

    def ready(self) -> None:
        """Register the checks. Django's own would run before or after the pages are there, as it comes."""
        register(check_dependencies, Tags.admin)
        register(check_pages, Tags.admin)


def check_pages(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Import the pages, then let Django check them."""
    autodiscover()
    return list(check_admin_app(app_configs, **kwargs))
