"""Settings of the tests' project with Django's own admin: django-unfold is installed, and not in INSTALLED_APPS."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [app for app in _APPS if not app.startswith("unfold")]
