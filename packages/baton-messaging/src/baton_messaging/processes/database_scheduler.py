"""django-celery-beat's scheduler writes the heartbeat of beat, as Celery's own does (scheduler.py).

Only imported where the project names it, and so has django-celery-beat.
"""

from django_celery_beat import schedulers

from baton_messaging.processes.scheduler import Beating


class DatabaseScheduler(Beating, schedulers.DatabaseScheduler):  # type: ignore[misc]
    """Sends what is due by the tables of django-celery-beat, and beats."""
