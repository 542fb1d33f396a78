"""The API's door asks for a right before anything else is looked at."""

from django.http import HttpRequest
from ninja.errors import HttpError

from baton_messaging.audit.rights import Right


def demand(request: HttpRequest, right: Right) -> None:
    """Refuse whoever lacks the right (403). What changes anything asks again, and audits who tried."""
    if not right.is_of(request.user):
        raise HttpError(403, right.sentence())
