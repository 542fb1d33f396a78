"""The project that is run: the one in whose folder the command was typed.

This package knows no project. It asks two modules of it, once the environment is complete: ``config.env``, which has
the variables as ``env`` and ends the process by ``end``, and ``config.env.reachability``, which says of a server that
the environment names whether it answers.
"""

from collections.abc import Set
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol

PROJECT_DIR: Final = Path.cwd()


class Environment(Protocol):
    """What a run must know of the environment."""

    @property
    def model_fields_set(self) -> Set[str]:
        """Name the variables that are set."""

    BATON_STATE_DIR: Path
    BATON_DRAIN_SECONDS: int
    DATABASE_URL: str
    DATABASE_OWNER_URL: str
    CELERY_BROKER_URL: str
    EMAIL_URL: str
    WEB_HOST: str
    WEB_PORT: int
    FLOWER_HOST: str  # asked for only where the Procfile has a `flower`
    FLOWER_PORT: int
    POSTGRES_PORT: int | None
    VALKEY_PORT: int | None


def environment() -> Environment:
    """Return the variables of this process, or end it with a line for each that is wrong."""
    env: Environment = import_module("config.env").env
    return env


def end(message: str) -> NoReturn:
    """End the process: the message says what of the surroundings is wrong, and what to do."""
    import_module("config.env").end(message)
    raise AssertionError("end() returned")


def reachability() -> Any:
    """Return the module with ``check_database(url)`` and ``check_broker(url)``, which raise ConnectionError."""
    return import_module("config.env.reachability")
