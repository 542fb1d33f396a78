"""The error page of debug hides secrets in all settings: Django knows names (PASSWORD), not addresses that hold one."""

import re
from typing import Any, Final

from django.views.debug import SafeExceptionReporterFilter

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s;]*@")


class ErrorReportFilter(SafeExceptionReporterFilter):
    """``DEFAULT_EXCEPTION_REPORTER_FILTER``."""

    def cleanse_setting(self, key: str | int, value: Any) -> Any:
        """Return the value for the page, without the credentials of any address in it."""
        cleansed = super().cleanse_setting(key, value)
        if not isinstance(cleansed, str):
            return cleansed
        # Of a lazy text's class `str` is said, too, and `re` does not take it.
        return _CREDENTIALS.sub(f"{self.cleansed_substitute}@", str(cleansed))
