"""The row of an export, and what it must hold in each state.

Invariants, each a named constraint: what is ready or expired has a whole, counted file behind it; what is running has
a lease; what failed has a reason. How a row gets from state to state: ``transitions``.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from orders.exports.states import ACTIVE, FINISHED, REPEATABLE, WHOLE, ExportState, Failure, Format
from orders.exports.transitions import ExportQuerySet
from orders.reference import reference_of


class Export(models.Model):
    """One file that a person asked for."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("requested by"),
        null=True,  # a person who leaves takes no file of the shop along; it expires as any other
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    format = models.CharField(_("format"), max_length=4, choices=Format)
    selection = models.JSONField(_("selection"), default=dict, help_text=_("Which orders; empty: all."))
    language = models.CharField(_("language"), max_length=2)
    state = models.CharField(_("state"), max_length=9, choices=ExportState, default=ExportState.QUEUED)
    failure = models.CharField(_("reason"), max_length=11, choices=Failure, blank=True)
    limit = models.PositiveIntegerField(_("limit"), null=True, blank=True)

    rows_done = models.PositiveIntegerField(_("rows done"), default=0)
    rows_total = models.PositiveIntegerField(_("rows in all"), null=True, blank=True)
    size_bytes = models.PositiveBigIntegerField(_("size in bytes"), null=True, blank=True)
    file_name = models.CharField(_("file"), max_length=200, blank=True)

    attempt_count = models.PositiveSmallIntegerField(_("attempts"), default=0)
    worker = models.CharField(_("worker"), max_length=200, blank=True)
    lease_expires_at = models.DateTimeField(_("lease ends at"), null=True, blank=True)
    created_at = models.DateTimeField(_("requested at"), db_default=Now())
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("kept until"), null=True, blank=True)
    cleaned_at = models.DateTimeField(_("file deleted at"), null=True, blank=True)

    objects = ExportQuerySet.as_manager()

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(format__in=Format.values), name="export_format_known"),
            models.CheckConstraint(condition=Q(state__in=ExportState.values), name="export_state_known"),
            models.CheckConstraint(
                condition=~Q(state__in=WHOLE)
                | Q(rows_done=F("rows_total"), size_bytes__gt=0, expires_at__isnull=False) & ~Q(file_name=""),
                name="export_ready_means_whole",
            ),
            models.CheckConstraint(
                condition=Q(state=ExportState.RUNNING, lease_expires_at__isnull=False)
                | ~Q(state=ExportState.RUNNING) & Q(lease_expires_at__isnull=True),
                name="export_running_means_leased",
            ),
            models.CheckConstraint(
                condition=Q(state=ExportState.FAILED) & ~Q(failure="") | ~Q(state=ExportState.FAILED) & Q(failure=""),
                name="export_failed_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(state__in=FINISHED, finished_at__isnull=False)
                | Q(state__in=ACTIVE, finished_at__isnull=True),
                name="export_finished_at_says_what_state_says",
            ),
            models.CheckConstraint(
                condition=Q(cleaned_at__isnull=True) | Q(state__in=REPEATABLE), name="export_file_outlives_no_download"
            ),
        ]
        indexes = [
            models.Index(fields=["requested_by", "-id"], name="export_of_person"),
            models.Index(fields=["state", "lease_expires_at"], condition=Q(state__in=ACTIVE), name="export_active"),
            models.Index(fields=["expires_at"], condition=Q(state=ExportState.READY), name="export_to_expire"),
            models.Index(
                fields=["id"], condition=Q(state__in=REPEATABLE, cleaned_at__isnull=True), name="export_to_clean"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_format_display()} {self.reference}"

    def get_absolute_url(self) -> str:
        """Return the export's page."""
        return reverse("exports:export", args=[self.pk])

    @property
    def reference(self) -> str:
        """Return what people call the export by: the last block of its id, in capitals."""
        return reference_of(self.pk)

    @property
    def is_active(self) -> bool:
        """Tell whether it waits or runs."""
        return self.state in ACTIVE

    @property
    def is_ready(self) -> bool:
        """Tell whether there is a file to download."""
        return self.state == ExportState.READY

    @property
    def is_repeatable(self) -> bool:
        """Tell whether asking for the same again makes sense."""
        return self.state in REPEATABLE

    @property
    def percent(self) -> int:
        """Return how far it got. 100 only when there is, or was, a whole file."""
        if self.state in WHOLE:
            return 100
        return min(99, self.rows_done * 100 // self.rows_total) if self.rows_total else 0
