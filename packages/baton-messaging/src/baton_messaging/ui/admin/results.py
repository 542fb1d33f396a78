"""Results of scheduled and long tasks in the admin. Consumers have none: the inbox is their record.

Imported where django-celery-results is in INSTALLED_APPS. Its own pages offer to delete and to change.
"""

import django_celery_results.admin  # noqa: F401 - registers the pages that are replaced here
from django.contrib import admin
from django_celery_results.models import GroupResult, TaskResult

from baton_messaging.ui.admin.read_only import ReadOnlyAdmin

admin.site.unregister(TaskResult)
admin.site.unregister(GroupResult)


@admin.register(TaskResult)
class TaskResultAdmin(ReadOnlyAdmin[TaskResult]):
    """What django-celery-results keeps, in the look of the other pages."""

    list_display = ("task_name", "status", "date_created", "date_done", "worker", "task_id")
    list_filter = ("status", "task_name", "date_done")
    search_fields = ("task_id__exact",)
    ordering = ("-date_done",)
