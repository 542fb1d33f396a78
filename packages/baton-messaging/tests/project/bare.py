"""Settings of the tests' project without any extra: no admin, no pages, no figures."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _APPS
from tests.settings import MIDDLEWARE as _MIDDLEWARE

_OF_EXTRAS = ("unfold", "django_htmx", "ninja", "baton_messaging.ui", "django.contrib.admin", "tests.project.apps")
INSTALLED_APPS = [app for app in _APPS if not app.startswith(_OF_EXTRAS)]
MIDDLEWARE = [layer for layer in _MIDDLEWARE if not layer.startswith(_OF_EXTRAS)]
ROOT_URLCONF = "baton_messaging.urls"
