"""Celery on a machine whose clock is an hour ahead."""

import os
import sys
from datetime import timedelta

from celery.bin.celery import main
from django.utils import timezone

_now = timezone.now

if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as manage.py has it
    timezone.now = lambda: _now() + timedelta(hours=1)
    sys.exit(main())
