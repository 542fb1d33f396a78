"""Variables of the environment, as `baton_dev.project.Environment` wants them."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def _port(name: str) -> int | None:
    return int(os.environ[name]) if os.environ.get(name) else None


class Variables:
    """What a run must know; servers that no variable names are embedded."""

    def __init__(self) -> None:
        self.model_fields_set = {name for name, value in os.environ.items() if value}
        self.BATON_STATE_DIR = Path(os.environ.get("BATON_STATE_DIR") or "var")
        self.BATON_DRAIN_SECONDS = int(os.environ.get("BATON_DRAIN_SECONDS") or 30)
        self.DATABASE_URL = os.environ.get("DATABASE_URL", "")
        self.DATABASE_OWNER_URL = os.environ.get("DATABASE_OWNER_URL", "")
        self.CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "")
        self.EMAIL_URL = ""
        self.WEB_HOST = self.FLOWER_HOST = "127.0.0.1"
        self.WEB_PORT = _port("WEB_PORT") or 8000
        self.FLOWER_PORT = _port("FLOWER_PORT") or 5555
        self.POSTGRES_PORT = _port("POSTGRES_PORT")
        self.VALKEY_PORT = _port("VALKEY_PORT")


def end(message: str) -> NoReturn:
    """End the process with one line."""
    sys.stderr.write(f"{message}\n")
    raise SystemExit(2)


env = Variables()
