"""The login throttle refuses whoever guesses passwords; a program that checks one without a request is no visitor.

django-axes counts, in the database, by account and by address: config/settings/security.py.
"""

from typing import Any

from axes.backends import AxesStandaloneBackend
from django.http import HttpRequest


class LoginThrottle(AxesStandaloneBackend):
    """Stops a login that was tried too often, before any backend looks at the password."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Let a login pass on to the next backend, or end it here (PermissionDenied)."""
        if request is not None:
            super().authenticate(request, **credentials)
