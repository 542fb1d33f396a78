"""The frame of every page: the admin's, whichever of the two a project has, Django's own or django-unfold's."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import Promise


def has_unfold() -> bool:
    """Tell whether the project's admin is django-unfold's: it counts that it is in INSTALLED_APPS."""
    return apps.is_installed("unfold")


def frame(request: HttpRequest, title: str | Promise) -> dict[str, Any]:
    """Return what the admin's templates need, and whether ours must bring htmx and colours along."""
    return {**admin.site.each_context(request), "title": title, "has_unfold": has_unfold()}
