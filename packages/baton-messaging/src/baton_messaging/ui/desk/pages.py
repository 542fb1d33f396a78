"""What all pages of the desk share: the frame, the actor, and which rights the actor has."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise

from baton_messaging.audit.actors import PERMISSIONS, SEE, Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.models.audit import Action
from baton_messaging.ui.frame import frame

View = Callable[..., HttpResponseBase]


def page(
    request: HttpRequest, template: str, *, title: str | Promise, status: int = 200, **context: Any
) -> HttpResponse:
    """Render a page of the desk within the admin."""
    rights = {action.value: actor_of(request).may(action) for action in Action}
    whole = {**frame(request, title), "rights": rights, **context}
    return render(request, f"baton_messaging/desk/{template}", whole, status=status)


def refusal_page(
    request: HttpRequest, refusal: OperationRefused, *, title: str | Promise, status: int = 400
) -> HttpResponse:
    """Say why nothing was done."""
    return page(request, "refused.html", title=title, status=status, tab="letters", refusal=refusal)


def actor_of(request: HttpRequest) -> Actor:
    """Return who operates the desk."""
    return Actor.of_request(request, via="desk")


def seeing(view: View) -> View:
    """Let only those see a page who may see dead letters; others are told so (403)."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(SEE):
            raise PermissionDenied(f"Expected the permission {SEE}.")
        return view(request, *args, **kwargs)

    return guarded


def demand(request: HttpRequest, action: Action) -> None:
    """Refuse to show the form of an operation to who may not do it. (Who sends it all the same is audited.)"""
    if not actor_of(request).may(action):
        raise PermissionDenied(f"Expected the permission {PERMISSIONS[action]}.")
