"""Wiring of the project: settings, Celery, queues, URLs. No domain code lives here."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
