"""Wiring of a project that was made with 0.2.0, as the README of then told: one module of settings, and no pages."""

from billing.celery import app as celery_app

__all__ = ["celery_app"]
