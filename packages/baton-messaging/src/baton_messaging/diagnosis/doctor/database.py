"""What depends on the database examined: migrations, clock, connections, and whether old rows are deleted."""

import shlex
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.apps import apps
from django.db import connection, models
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton
from baton_messaging.database.roles import RoleRights, rights_of_this_role
from baton_messaging.diagnosis.doctor.examination import DATABASE, examines
from baton_messaging.health.diagnosis import Diagnosis, Text, finding, inferred, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration, first_few
from baton_messaging.models import Attempt, Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.models.heartbeat import Role
from baton_messaging.observability.health import unapplied_migrations
from baton_messaging.processes import wiring

#: Seconds. Leases, retries and schedules are compared across machines; two seconds are less than any of them.
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
APP: Final = "baton_messaging"
#: Database connections of one process of each role, beside those of a worker's children.
CONNECTIONS_OF_ROLE: Final = {"worker": 1, "relay": 3, "collector": 2, "beat": 1}


@examines("migrations", needs=(DATABASE,))
def examine_migrations() -> Iterator[Diagnosis]:
    """Find migrations that are not applied, and whose they are: an app's, or of which version of this package."""
    waiting = Counter(unapplied_migrations())
    names = {APP: f"baton-messaging {wiring.release()['baton-messaging']}"}
    whose = ", ".join(f"{names.get(app, app)} ({count})" for app, count in waiting.items())
    yield observed(
        not waiting,
        _("migrations"),
        about=Resource(Kind.SETTING, "migrations"),
        found=format_lazy(_("not applied: {whose}"), whose=whose) if waiting else _("all applied"),
        wanted=_("all applied"),
        remedy=_("Apply them."),
        command="python manage.py migrate",
    )


@examines("role of the database", needs=(DATABASE,))
def examine_role() -> Iterator[Diagnosis]:
    """Find a role that could rewrite the audit, and one that lacks what the processes need (database/roles.py)."""
    rights = rights_of_this_role([model._meta.db_table for model in apps.get_app_config(APP).get_models()])
    about = Resource(Kind.SETTING, "role of the database")
    yield observed(
        not rights.can_change_audit,
        _("role of the database"),
        about=about,
        found=_role_found(rights),
        wanted=_("owns no table of ours, and can only add to the audit"),
        remedy=_(
            "Let the processes connect as a role of their own (DATABASE_URL), and migrate as the owner of the tables, "
            "who grants that role what it needs."
        ),
        command="python manage.py baton_grants ROLE",
    )
    if rights.missing:
        yield finding(
            about,
            _("rights of the role"),
            found=format_lazy(_("{role} lacks {rights}"), role=rights.role, rights=first_few(rights.missing)),
            wanted=_("SELECT, INSERT, UPDATE and DELETE on the tables of ours; on the audit SELECT and INSERT"),
            remedy=_("Grant them, as the owner of the tables."),
            command=f"python manage.py baton_grants {shlex.quote(rights.role)} --apply",
        )


def _role_found(rights: RoleRights) -> Text:
    if rights.is_test:
        return format_lazy(_("{role}, in a database whose audit may be emptied"), role=rights.role)
    if rights.is_superuser:
        return format_lazy(_("{role} is a superuser"), role=rights.role)
    if rights.owns_audit:
        return format_lazy(_("{role} owns the audit's tables"), role=rights.role)
    if rights.can_change_audit:
        return format_lazy(_("{role} has {rights}"), role=rights.role, rights=first_few(rights.on_audit))
    return format_lazy(_("{role} can only add to the audit"), role=rights.role)


@examines("clock of the database", needs=(DATABASE,))
def examine_clock() -> Iterator[Diagnosis]:
    """Find a clock that runs away from this process's."""
    before = datetime.now(UTC)
    theirs = _value("SELECT clock_timestamp()")
    yield clock_diagnosis(_("clock of the database"), theirs=theirs, before=before, after=datetime.now(UTC))


def clock_diagnosis(what: Text, *, theirs: datetime, before: datetime, after: datetime) -> Diagnosis:
    """Compare a server's time, asked for between ``before`` and ``after``, with ours."""
    offset = max(before - theirs, theirs - after, timedelta(0)).total_seconds()
    return observed(
        offset <= MAX_CLOCK_OFFSET_SECONDS,
        what,
        found=format_lazy(_("{offset} from this machine's"), offset=duration(offset))
        if offset
        else _("agrees with this machine's"),
        wanted=format_lazy(_("at most {age}"), age=duration(MAX_CLOCK_OFFSET_SECONDS)),
        remedy=_("Let a time service (chrony, systemd-timesyncd) set the clocks of both machines."),
    )


@examines("connections of the database", needs=(DATABASE,))
def examine_connections() -> Iterator[Diagnosis]:
    """Compare what all living processes may open with what the server allows (F56)."""
    available = int(_value("SHOW max_connections")) - int(_value("SHOW superuser_reserved_connections"))
    web = baton().web_connection_count
    others = sum(_connection_count(beat) for beat in Heartbeat.objects.fresh().exclude(role=Role.WEB))
    budget = web + others
    is_enough = observed(
        budget <= available,
        _("connections of the database"),
        about=Resource(Kind.SETTING, "max_connections"),
        found=format_lazy(
            _("up to {budget} wanted (web {web}, other processes {others})"),
            budget=budget,
            web=web,
            others=others,
        ),
        wanted=format_lazy(_("at most {available}, which the server allows"), available=available),
        remedy=_("Raise max_connections, start fewer web threads or worker children, or put PgBouncer between."),
    )
    yield inferred(is_enough)  # they may never open as many


def _connection_count(beat: Heartbeat) -> int:
    return CONNECTIONS_OF_ROLE.get(beat.role, 1) + beat.child_count


def _value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


#: Seconds that pruning may be behind: it runs every ten minutes, and a first run after an upgrade takes longer.
MAX_PRUNE_LAG_SECONDS: Final = 86_400


@examines("retention", needs=(DATABASE,))
def examine_retention() -> Iterator[Diagnosis]:
    """Compare the oldest row of each table that grows with its retention. The oldest have the lowest numbers."""
    yield _table(OutboxMessage, "published_at", baton().outbox_retention_days)
    yield _table(ProcessedMessage, "processed_at", baton().inbox_retention_days)
    yield _table(Attempt, "sent_at", baton().outbox_retention_days)


def _table(model: type[models.Model], column: str, days: float) -> Diagnosis:
    oldest: datetime | None = model._base_manager.order_by("pk").values_list(column, flat=True).first()
    allowed = timedelta(days=days, seconds=MAX_PRUNE_LAG_SECONDS)
    age = timezone.now() - oldest if oldest else timedelta(0)
    name = model._meta.verbose_name_plural
    return observed(
        age <= allowed,
        format_lazy(_("size of {table}"), table=name),
        about=Resource(Kind.DATA, model._meta.db_table),
        found=format_lazy(
            _("{size}, the oldest settled {age} ago"), size=_size(model), age=duration(age.total_seconds())
        )
        if oldest
        else _size(model),
        wanted=format_lazy(_("none kept longer than {days} days"), days=f"{days:g}"),
        remedy=_("See whether beat and a worker of the platform's queue run: baton.prune deletes what is old."),
    )


def _size(model: type[models.Model]) -> Promise:
    statement = "SELECT pg_size_pretty(pg_total_relation_size(oid)), greatest(reltuples, 0) FROM pg_class"
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} WHERE oid = %s::regclass", [model._meta.db_table])
        row: Any = cursor.fetchone()
    return format_lazy(_("{size}, about {count} rows"), size=row[0], count=f"{int(row[1]):,}")
