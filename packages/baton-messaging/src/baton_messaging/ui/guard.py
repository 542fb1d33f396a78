"""A page's door asks for a right before the view: a user who lacks it is told so (403), wherever it is mounted."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from baton_messaging.audit.rights import Right

View = Callable[..., HttpResponseBase]
Answer = TypeVar("Answer", bound=HttpResponseBase)


def needing(right: Right) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Let only those see a page who have the right."""

    def guard(view: Callable[..., Answer]) -> Callable[..., Answer]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Answer:
            if not right.is_of(request.user):
                raise PermissionDenied(right.sentence())
            return view(request, *args, **kwargs)

        return guarded

    return guard
