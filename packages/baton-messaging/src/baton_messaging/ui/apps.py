"""The pages as a Django app of their own, so that a project without them needs none of what they need."""

from django.apps import AppConfig


class BatonPagesConfig(AppConfig):
    """Desk, board, triage and API. ``INSTALLED_APPS`` names it beside ``baton_messaging``; the extra is ``ui``."""

    name = "baton_messaging.ui"
    label = "baton_messaging_ui"
    verbose_name = "Baton"
