"""Open pages as a superuser: ``python -m tests.ui.admin.open_pages PATH…`` prints status and text of each as JSON.

A program, because an admin cannot be exchanged in a process that has begun: the settings are DJANGO_SETTINGS_MODULE's.
"""

import json
import sys

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 - needs the apps
from django.test import Client  # noqa: E402

client = Client(raise_request_exception=False)
client.force_login(User.objects.get(is_superuser=True))
answers = {path: client.get(path) for path in sys.argv[1:]}
print(json.dumps({path: [answer.status_code, answer.content.decode()] for path, answer in answers.items()}))
