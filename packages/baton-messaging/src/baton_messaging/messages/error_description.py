"""An error is described by names and text: what a retry, a dead letter and the desk keep of it."""

import hashlib
import traceback
from dataclasses import dataclass

from baton_messaging.database.text import storable

MAX_TRACEBACK_CHARS = 20_000  # a recursion error's traceback would fill a page of the desk otherwise


@dataclass(frozen=True)
class ErrorDescription:
    """What is kept of an error: names and text, not the object, which may not even be picklable."""

    error_class: str
    message: str
    traceback: str
    fingerprint: str


def describe(error: BaseException) -> ErrorDescription:
    """Return class, message, traceback and a fingerprint: equal for the same fault at the same place in the code."""
    error_class = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    text = "".join(traceback.format_exception(error))
    return ErrorDescription(
        error_class=error_class,
        message=_text_of(error),
        traceback=storable(text[-MAX_TRACEBACK_CHARS:]),
        fingerprint=hashlib.sha256(f"{error_class}|{_place_of(error)}".encode()).hexdigest(),
    )


def fault(error_class: str, text: str, *, traceback: str = "") -> ErrorDescription:
    """Describe a death that no exception of ours tells of; equal for the same class."""
    return ErrorDescription(
        error_class=error_class,
        message=storable(text)[:1000],
        traceback=storable(traceback),
        fingerprint=hashlib.sha256(error_class.encode()).hexdigest(),
    )


def _place_of(error: BaseException) -> str:
    """Name the function that raised, by module and not by file: a release in another folder has the same faults."""
    frames = [frame for frame, _line in traceback.walk_tb(error.__traceback__)]
    return f"{frames[-1].f_globals.get('__name__')}:{frames[-1].f_code.co_name}" if frames else ""


def _text_of(error: BaseException) -> str:
    try:
        return storable(str(error))[:1000]
    except Exception:  # a broken __str__ must not hide the failure itself
        return "(the error has no readable text)"
