"""A heartbeat is the one row of a process of ours: that it lives, and what it has in flight.

Invariant: a row is written only by its own process, after its own loop has turned (processes). So a fresh
row proves a turning loop, not a pid; a process that hangs, is stopped or was killed leaves a row that gets old. One
that ends says so in its row (``ended``): triage can tell the last that ran, and how it ended. All times are the
database's clock, so that the clocks of the machines do not matter.

A process is known by name, host and pid: of two workers with one node name each has its row.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self, cast

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton

_LOOKED_AT: Final = "looked_at"


class Role(models.TextChoices):
    """What a process is for."""

    WORKER = "worker", _("worker")
    RELAY = "relay", _("relay")
    COLLECTOR = "collector", _("collector")
    BEAT = "beat", _("beat")
    WEB = "web", _("web")


class Trouble(models.TextChoices):
    """Why a process that lives can do nothing, where it knows more than that the broker is away."""

    BROKER_FULL = "broker full", _("the broker is full")


def stale_after() -> timedelta:
    """Return the age at which a row no longer counts as a sign that its process lives."""
    return timedelta(seconds=baton().heartbeat_stale_seconds)


class HeartbeatQuerySet(models.QuerySet["Heartbeat"]):
    """Adjectives."""

    def fresh(self) -> Self:
        """Return the rows of processes that live."""
        return self.filter(beaten_at__gte=Now() - stale_after())

    def workers(self) -> Self:
        """Return the rows of workers."""
        return self.filter(role=Role.WORKER)


_Manager = models.Manager.from_queryset(HeartbeatQuerySet)


if TYPE_CHECKING:
    _Base = _Manager["Heartbeat"]
else:  # generic only in the stubs
    _Base = _Manager


class HeartbeatManager(_Base):
    """Reads the database's time along with each row: what its age is measured against."""

    #: Whether the rows of processes that have ended are meant, or those of all others.
    of_ended = False

    def get_queryset(self) -> HeartbeatQuerySet:
        """Return the rows of processes that have not ended."""
        rows: Any = super().get_queryset().filter(ended_at__isnull=not self.of_ended)
        return cast("HeartbeatQuerySet", rows.annotate(**{_LOOKED_AT: Now()}))


class EndedManager(HeartbeatManager):
    """The processes that have said how they ended."""

    of_ended = True


class Heartbeat(models.Model):
    """The last heartbeat of one process."""

    name = models.CharField(_("name"), max_length=200)
    role = models.CharField(_("role"), max_length=20, choices=Role.choices)
    hostname = models.CharField(_("host"), max_length=200)
    pid = models.PositiveIntegerField("pid")
    started_at = models.DateTimeField(_("started at"))
    beaten_at = models.DateTimeField(_("last heartbeat"), db_default=Now())
    # What a worker consumes; empty for the others.
    queues = ArrayField(models.CharField(max_length=200), verbose_name=_("queues"), default=list)
    # The process's own finding: it has its broker, and takes work when there is some and it has room.
    is_consuming = models.BooleanField(_("takes work"))
    trouble = models.CharField(
        _("trouble"), max_length=40, choices=Trouble.choices, blank=True, default="", db_default=""
    )
    capacity = models.PositiveIntegerField(_("places"), default=0)
    # Of a worker, at most: each has its own connection to the database. Its places may be more than one per child.
    child_count = models.PositiveIntegerField(_("children"), default=0, db_default=0)
    # [{"consumer": …, "message_ids": […], "started_at": …, "pid": …}]: ids, never payloads.
    running = models.JSONField(_("running"), default=list)
    reserved = models.JSONField(_("taken, not started"), default=list)
    received_count = models.PositiveBigIntegerField(_("received"), default=0)
    finished_count = models.PositiveBigIntegerField(_("finished"), default=0)
    last_received_at = models.DateTimeField(_("last received at"), null=True)
    last_finished_at = models.DateTimeField(_("last finished at"), null=True)

    # What it is wired to, as fingerprints (processes/wiring.py): since when, and when that was last looked at.
    wiring = models.JSONField(_("wiring"), default=dict, db_default=models.Value({}, models.JSONField()))
    wired_at = models.DateTimeField(_("wired so since"), null=True)
    wiring_checked_at = models.DateTimeField(_("wiring looked at"), null=True)
    # [Health.as_dict()]: what its own health checks found.
    health = models.JSONField(_("health"), default=list, db_default=models.Value([], models.JSONField()))
    # Of a worker: queues of its command line that it no longer consumes. None that wait for a migration.
    unconsumed_queues = ArrayField(
        models.CharField(max_length=200), verbose_name=_("queues given up"), default=list, db_default=[]
    )
    # The database's clock minus the machine's.
    clock_offset_seconds = models.FloatField(_("clock offset"), null=True)
    # The last time at which nothing of the process ran: suspended, stopped, or a machine without a processor to spare.
    stood_still_at = models.DateTimeField(_("stood still until"), null=True)
    stood_still_seconds = models.FloatField(_("stood still for"), null=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)
    ended_by = models.CharField(_("how it ended"), max_length=200, blank=True, default="", db_default="")

    objects = HeartbeatManager()
    ended = EndedManager()

    # Not a column: the database's time when the row was read.
    looked_at: datetime

    class Meta:
        db_table = "baton_heartbeat"
        verbose_name = _("process")
        verbose_name_plural = _("processes")
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="baton_heartbeat_role_known"),
            models.UniqueConstraint(fields=["name", "hostname", "pid"], name="baton_heartbeat_once_per_process"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def age_seconds(self) -> float:
        """Return how old the last heartbeat was when the row was read."""
        return (self.looked_at - self.beaten_at).total_seconds()

    @property
    def is_fresh(self) -> bool:
        """Tell whether the process counted as living when the row was read."""
        return self.ended_at is None and self.age_seconds <= stale_after().total_seconds()
