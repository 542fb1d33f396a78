"""The server's own log, of errors and where asked for of accesses, is written as every other: by ``config.logs``."""

from logging import Logger as StandardLogger
from typing import Any

from gunicorn.glogging import Logger

from config.logs import formatter


class ServerLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's loggers with the one formatter; by themselves they write a path as it came."""

    def _set_handler(self, log: StandardLogger, output: Any, fmt: Any, stream: Any = None) -> None:
        del fmt
        super()._set_handler(log, output, formatter(), stream)
