"""The words of an export: what it is, where it stands, why it failed.

queued ──▶ running ──▶ ready ──▶ expired
  ▲  │      │  │  └──▶ failed
  │  │      │  └─────▶ cancelled
  │  └──────┼────────▶ failed, cancelled
  └─────────┘ its worker is gone: taken up again
"""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Format(models.TextChoices):
    """What kind of file."""

    CSV = "csv", "CSV"
    XLSX = "xlsx", "Excel (XLSX)"


class ExportState(models.TextChoices):
    """Where an export stands."""

    QUEUED = "queued", _("waiting")
    RUNNING = "running", _("running")
    READY = "ready", _("ready")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    EXPIRED = "expired", _("expired")


ACTIVE = (ExportState.QUEUED, ExportState.RUNNING)
WHOLE = (ExportState.READY, ExportState.EXPIRED)
REPEATABLE = (ExportState.FAILED, ExportState.CANCELLED, ExportState.EXPIRED)
FINISHED = (ExportState.READY, *REPEATABLE)


class Failure(models.TextChoices):
    """Why an export failed, as an operator names it. Sentences for people: ``wording``."""

    TIME_LIMIT = "time_limit", _("time limit")
    WORKER_LOST = "worker_lost", _("worker lost")
    STORAGE = "storage", _("storage")
    INCOMPLETE = "incomplete", _("file incomplete")
    UNEXPECTED = "unexpected", _("unexpected error")
    UNDELIVERED = "undelivered", _("not delivered to a worker")
