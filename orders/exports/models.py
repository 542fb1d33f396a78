"""The row of an export: its state machine, with a lease held by the worker that builds it.

Invariants, each a named constraint: what is ready or expired has a whole, counted file behind it; what is running has
a lease; what failed has a reason. Every change of state is one UPDATE whose WHERE clause demands the state that it
leaves, so of two that race exactly one succeeds and the other is told so.
"""

from datetime import timedelta
from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from orders.exports.lease import Hold, lease_end
from orders.exports.states import ACTIVE, REPEATABLE, WHOLE, ExportState, Failure, Format

_FINISHED = (ExportState.READY, ExportState.FAILED, ExportState.CANCELLED, ExportState.EXPIRED)


class ExportQuerySet(models.QuerySet["Export"]):
    """Changes of state. Each is conditional, and tells whether it changed the row."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> "ExportQuerySet":
        """Return a person's own exports; those of all for staff with the permission to view exports."""
        if not user.is_authenticated:
            return self.none()
        may_have_permissions = isinstance(user, PermissionsMixin) and getattr(user, "is_staff", False)
        if may_have_permissions and cast("PermissionsMixin", user).has_perm("orders.view_export"):
            return self.all()
        return self.filter(requested_by=user.pk)

    def active(self) -> "ExportQuerySet":
        """Return what waits or runs."""
        return self.filter(state__in=ACTIVE)

    def abandoned(self) -> "ExportQuerySet":
        """Return what is running by its state, though its worker has let the lease run out."""
        return self.filter(state=ExportState.RUNNING, lease_expires_at__lt=Now())

    def claim(self, export_id: UUID, *, worker: str) -> Hold | None:
        """Take a waiting export, or one whose worker is gone. None: it is in other hands, or finished."""
        takeable = Q(state=ExportState.QUEUED) | Q(state=ExportState.RUNNING, lease_expires_at__lt=Now())
        with transaction.atomic():  # so that the attempt read is the one written, however long a pause between them
            changed = self.filter(takeable, pk=export_id, attempt_count__lt=settings.EXPORTS["MAX_ATTEMPTS"]).update(
                state=ExportState.RUNNING,
                attempt_count=F("attempt_count") + 1,
                started_at=Now(),
                lease_expires_at=lease_end(),
                worker=worker,
                rows_done=0,
                rows_total=None,
            )
            return Hold(export_id, self._attempt_of(export_id)) if changed else None

    def renew(self, hold: Hold, *, rows_done: int, rows_total: int | None) -> bool:
        """Tell of progress and keep the lease. False: it was cancelled, or is in other hands now."""
        return self._held(hold).update(rows_done=rows_done, rows_total=rows_total, lease_expires_at=lease_end()) == 1

    def finish(self, hold: Hold, *, file_name: str, row_count: int, size_bytes: int) -> bool:
        """Make it ready: its file is in place."""
        retention = timedelta(days=settings.EXPORTS["RETENTION_DAYS"])
        changed = self._held(hold).update(
            state=ExportState.READY,
            file_name=file_name,
            rows_done=row_count,
            rows_total=row_count,
            size_bytes=size_bytes,
            lease_expires_at=None,
            finished_at=Now(),
            expires_at=Now() + retention,
        )
        return changed == 1

    def fail(self, hold: Hold, reason: Failure, *, limit: int | None = None) -> bool:
        """Give up, with the reason and the limit that was hit (seconds, rows or attempts; see ``wording``)."""
        return self._held(hold)._give_up(reason, limit) == 1

    def fail_waiting(self, export_id: UUID, reason: Failure) -> bool:
        """Give up an export that no worker will ever get."""
        return self.filter(pk=export_id, state=ExportState.QUEUED)._give_up(reason, None) == 1

    def cancel(self, export_id: UUID) -> bool:
        """Stop it. Whoever is building it learns so by its next heartbeat and throws the file away."""
        changed = self.filter(pk=export_id, state__in=ACTIVE).update(
            state=ExportState.CANCELLED, lease_expires_at=None, finished_at=Now()
        )
        return changed == 1

    def put_back(self, hold: Hold) -> bool:
        """Let another worker have it: the one that held it is gone."""
        changed = (
            self._held(hold)
            .abandoned()
            .update(state=ExportState.QUEUED, lease_expires_at=None, rows_done=0, rows_total=None)
        )
        return changed == 1

    def fail_abandoned(self, hold: Hold, reason: Failure, *, limit: int | None = None) -> bool:
        """Give up an export whose worker is gone."""
        return self._held(hold).abandoned()._give_up(reason, limit) == 1

    def expire(self, export_id: UUID) -> bool:
        """End its time: nobody can download it from now on."""
        overdue = self.filter(pk=export_id, state=ExportState.READY, expires_at__lte=Now())
        return overdue.update(state=ExportState.EXPIRED) == 1

    def _held(self, hold: Hold) -> "ExportQuerySet":
        return self.filter(pk=hold.export_id, state=ExportState.RUNNING, attempt_count=hold.attempt)

    def _give_up(self, reason: Failure, limit: int | None) -> int:
        return self.update(
            state=ExportState.FAILED, failure=reason, limit=limit, lease_expires_at=None, finished_at=Now()
        )

    def _attempt_of(self, export_id: UUID) -> int:
        return self.values_list("attempt_count", flat=True).get(pk=export_id)


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
                condition=Q(state__in=_FINISHED, finished_at__isnull=False)
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
        return str(self.pk).rpartition("-")[2].upper()

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
