"""The tests' settings, so that each fault takes seconds: retries that wait, templates and a storage that can break."""

import os
from pathlib import Path
from typing import Any

from config.settings import CELERY_BEAT_SCHEDULE as _SCHEDULE
from config.settings import STORAGES as _STORAGES
from config.settings import TEMPLATES as _TEMPLATES
from tests.settings import *  # noqa: F403
from tests.settings import BATON as _BATON

BROKEN_TEMPLATES = Path(os.environ["BATON_STATE_DIR"]) / "broken-templates"

BATON = {**_BATON, "RETRY_FLOOR_SECONDS": 30.0, "DATABASE_WAIT_SECONDS": 1}
CELERY_BEAT_MAX_LOOP_INTERVAL = 1  # its heartbeat comes with each round
# What the reconciler would mend within the minute must stay broken until it was asked about.
CELERY_BEAT_SCHEDULE = {name: entry for name, entry in _SCHEDULE.items() if "reconcile" not in name}
_DIRS: Any = _TEMPLATES[0]["DIRS"]
TEMPLATES = [{**_TEMPLATES[0], "DIRS": [BROKEN_TEMPLATES, *_DIRS]}]
STORAGES = {**_STORAGES, "exports": {**_STORAGES["exports"], "BACKEND": "tests.blame.storages.Moody"}}
