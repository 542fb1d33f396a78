"""The error page of debug hides secrets: in settings, in what the frames hold, and in what the error says.

Django hides settings by their name (PASSWORD), and in debug nothing of the frames: when the database takes no login,
one of them holds the password. Here every secret that the settings have is replaced wherever it stands, and what an
address has before its @.
"""

import re
from pprint import pformat
from types import FrameType
from typing import Any, Final

from django.http import HttpRequest
from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s;]*@")


class Redacted:
    """A value that is shown without secrets; the page cuts what is long, and would cut a secret in two."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        text = repr(self._value)  # what is laid out may have its secrets broken into lines
        return pformat(self._value) if redacted(text) == text else redacted(text)


class ErrorReportFilter(SafeExceptionReporterFilter):
    """``DEFAULT_EXCEPTION_REPORTER_FILTER``."""

    def cleanse_setting(self, key: str | int, value: Any) -> Any:
        """Return a setting, or a part of the request, for the page."""
        cleansed = super().cleanse_setting(key, value)
        # Of a lazy text's class `str` is said, too, and `re` does not take it.
        return redacted(str(cleansed)) if isinstance(cleansed, str) else cleansed

    def get_traceback_frame_variables(self, request: HttpRequest | None, tb_frame: FrameType) -> Any:
        """Return what a frame holds, for the page."""
        found = super().get_traceback_frame_variables(request, tb_frame)
        return [(name, Redacted(value)) for name, value in found]


class ErrorReporter(ExceptionReporter):
    """``DEFAULT_EXCEPTION_REPORTER``."""

    def get_traceback_data(self) -> dict[str, Any]:
        """Return what the page is made of."""
        data: dict[str, Any] = super().get_traceback_data()
        for name in ("exception_value", "exception_notes"):
            if name in data:
                data[name] = redacted(data[name])
        return data


def redacted(text: str) -> str:
    """Return the text without secrets."""
    from baton_messaging.extend.health import without_secrets  # noqa: PLC0415 - this is read before the apps are there

    return without_secrets(_CREDENTIALS.sub(f"{SafeExceptionReporterFilter.cleansed_substitute}@", text))
