"""Results of scheduled and long tasks. Consumers have none: the inbox is their record."""

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
