"""Commands start the processes that are missing: what doctor and triage tell a person to type."""

from django.conf import settings


def relay() -> str:
    """Return the command of a relay."""
    return "python manage.py relay"


def collector() -> str:
    """Return the command of a collector."""
    return "python manage.py collect_dead_letters"


def beat() -> str:
    """Return the command of beat."""
    return f"{_celery()} beat"


def worker(queue: str) -> str:
    """Return the command of a worker of one queue."""
    return f"{_celery()} worker -Q {queue}"


def _celery() -> str:
    """Return Celery's command, with the application where Celery's guide for Django puts it: beside the settings."""
    module: str = getattr(settings, "SETTINGS_MODULE", "") or ""  # none where settings.configure() was called
    return f"python -m celery -A {module.partition('.settings')[0] or 'PROJECT'}"
