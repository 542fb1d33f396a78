"""The WSGI application that gunicorn serves."""

import os
from importlib import import_module

from baton_messaging.install import with_heartbeat
from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = with_heartbeat(get_wsgi_application())
import_module(settings.ROOT_URLCONF)  # now: the first visitor does not wait for the pages to be imported
