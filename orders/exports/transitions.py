"""The arrows between the states of an export: the state machine as UPDATEs.

Invariant: every change of state is one UPDATE whose WHERE clause demands the state that it leaves, so of two that race
exactly one succeeds and the other is told so. The states, and what a row must hold in each: ``states``, ``models``.
"""

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from orders.exports.lease import Hold, lease_end
from orders.exports.states import ACTIVE, ExportState, Failure
from orders.rights import Right, may

if TYPE_CHECKING:
    from orders.exports.models import Export  # noqa: F401 - named in the base class below


class ExportQuerySet(models.QuerySet["Export"]):
    """Changes of state. Each is conditional, and tells whether it changed the row."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> "ExportQuerySet":
        """Return all exports to whoever may see those of others, one's own to whoever may ask for any."""
        if may(user, Right.SEE_EXPORTS):
            return self.all()
        return self.filter(requested_by=user.pk) if may(user, Right.ASK_FOR_EXPORT) else self.none()

    def active(self) -> "ExportQuerySet":
        """Return what waits or runs."""
        return self.filter(state__in=ACTIVE)

    def abandoned(self) -> "ExportQuerySet":
        """Return what is running by its state, though its worker has let the lease run out."""
        return self.filter(_is_abandoned())

    def claim(self, export_id: UUID, *, worker: str) -> Hold | None:
        """Take a waiting export, or one whose worker is gone. None: it is in other hands, or finished."""
        takeable = Q(state=ExportState.QUEUED) | _is_abandoned() & ~_is_out_of_time()
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

    def lock(self, export_id: UUID) -> None:
        """Wait for whoever is changing it, in the caller's transaction: what it has published is seen afterwards."""
        self.filter(pk=export_id).select_for_update(no_key=True).values_list("pk").first()

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
        """Let another worker have it: the one that held it is gone, and it had time left."""
        changed = self._left_by(hold).update(
            state=ExportState.QUEUED, lease_expires_at=None, rows_done=0, rows_total=None
        )
        return changed == 1

    def fail_abandoned(self, hold: Hold, reason: Failure, *, limit: int) -> bool:
        """Give up an export whose worker is gone, though it had time left."""
        return self._left_by(hold)._give_up(reason, limit) == 1

    def fail_out_of_time(self, hold: Hold, *, limit: int) -> bool:
        """Give up an export whose worker was killed by its hard time limit: the next attempt would be no better."""
        return self._held(hold).filter(_is_abandoned(), _is_out_of_time())._give_up(Failure.TIME_LIMIT, limit) == 1

    def expire(self, export_id: UUID) -> bool:
        """End its time: nobody can download it from now on."""
        overdue = self.filter(pk=export_id, state=ExportState.READY, expires_at__lte=Now())
        return overdue.update(state=ExportState.EXPIRED) == 1

    def _held(self, hold: Hold) -> "ExportQuerySet":
        return self.filter(pk=hold.export_id, state=ExportState.RUNNING, attempt_count=hold.attempt)

    def _left_by(self, hold: Hold) -> "ExportQuerySet":
        return self._held(hold).filter(_is_abandoned(), ~_is_out_of_time())

    def _give_up(self, reason: Failure, limit: int | None) -> int:
        return self.update(
            state=ExportState.FAILED, failure=reason, limit=limit, lease_expires_at=None, finished_at=Now()
        )

    def _attempt_of(self, export_id: UUID) -> int:
        return self.values_list("attempt_count", flat=True).get(pk=export_id)


def _is_abandoned() -> Q:
    return Q(state=ExportState.RUNNING, lease_expires_at__lt=Now())


def _is_out_of_time() -> Q:
    """Tell what ran past its soft time limit: it could not be stopped.

    Known by the last heartbeat, so that an export is told from one that was killed early and found late.
    """
    limit = settings.EXPORTS["SOFT_TIME_LIMIT_SECONDS"] + settings.EXPORTS["LEASE_SECONDS"]
    return Q(lease_expires_at__gt=F("started_at") + timedelta(seconds=limit))
