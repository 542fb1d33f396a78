"""What all pages of the desk share: the frame, the actor, and which operations the actor may do."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise

from baton_messaging.audit.actors import PERMISSIONS, Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.audit.operations import operation
from baton_messaging.models.audit import Action
from baton_messaging.ui.frame import frame


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


def refuse_unpermitted(request: HttpRequest, action: Action) -> None:
    """Raise NotPermitted, before anything of a form that was sent is looked at; the audit has who tried."""
    actor = actor_of(request)
    if not actor.may(action):
        with operation(actor, action, why=request.POST.get("why", "")):
            pass  # it is not reached


def demand(request: HttpRequest, action: Action) -> None:
    """Refuse to show the form of an operation to who may not do it. (Who sends it all the same is audited.)"""
    if not actor_of(request).may(action):
        raise PermissionDenied(f"Expected the permission {PERMISSIONS[action]}.")
