"""The machinery in the admin, read-only. What a person may do about a message is a named action of the desk."""

from django.apps import apps

from baton_messaging.ui.admin import dead_letters, flow_control, future_messages, tables

__all__ = ["dead_letters", "flow_control", "future_messages", "tables"]

if apps.is_installed("django_celery_results"):
    from baton_messaging.ui.admin import results

    __all__ += ["results"]
