"""Wiring of the project: settings, Celery, queues, URLs. No domain code lives here."""
