"""The environment of this process: ``env``, read once, when this package is imported.

A wrong value ends the process with one line per variable and exit code 2, before Django, Celery or gunicorn can hide it
in a traceback. No line ever repeats a value: many of them hold a password.
"""

import sys
from typing import Any, NoReturn

from pydantic import ValidationError

from config.env.variables import Environment

__all__ = ["Environment", "end", "env", "read_environment"]

EXIT_WRONG_ENVIRONMENT = 2


def read_environment() -> Environment:
    """Read the environment, or end the process with one line for each wrong variable."""
    try:
        return Environment.read()
    except ValidationError as error:
        end("\n".join(_line(details) for details in error.errors(include_input=False, include_context=False)))


def end(message: str) -> NoReturn:
    """End the process: the environment is wrong, and the message says which variable and what to do."""
    sys.stderr.write(f"{message}\n")
    raise SystemExit(EXIT_WRONG_ENVIRONMENT)


def _line(details: Any) -> str:
    message = str(details["msg"]).removeprefix("Value error, ")
    variable = details["loc"][0] if details["loc"] else ""
    message = message.removeprefix(str(variable)).strip().rstrip(".")  # some speak of themselves by name
    return f"{variable}: {message}." if variable else f"{message}."


env = read_environment()
