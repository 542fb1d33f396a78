"""The database examined: server, migrations, clock, connections, and whether old rows are deleted."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection, models
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.database.errors import takes_writes
from baton_messaging.diagnosis.doctor.examination import DATABASE, Observation, count_of, duration, examines, observed
from baton_messaging.models import Attempt, Heartbeat, OutboxMessage, ProcessedMessage
from baton_messaging.models.heartbeat import Role
from baton_messaging.observability.health import unapplied_migration_count

#: Seconds. Leases, retries and schedules are compared across machines; two seconds are less than any of them.
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
#: Database connections of one process of each role, beside those of a worker's children.
CONNECTIONS_OF_ROLE: Final = {"worker": 1, "relay": 3, "collector": 2, "beat": 1}


@examines(DATABASE)
def examine_database() -> Iterator[Observation]:
    """Say which server answers, and whether it is the one that takes writes."""
    version, is_writable = _value("SHOW server_version"), takes_writes()
    yield observed(
        is_writable,
        "database",
        found=f"PostgreSQL {version} answers" if is_writable else f"PostgreSQL {version} takes no writes",
        wanted="a server that takes writes",
        remedy="Is it a standby? Let DATABASES (in the scaffold DATABASE_URL) name the primary, or both and "
        "target_session_attrs=read-write.",
    )


@examines("migrations", needs=(DATABASE,))
def examine_migrations() -> Iterator[Observation]:
    """Find migrations that are not applied."""
    count = unapplied_migration_count()
    yield observed(
        not count,
        "migrations",
        found=f"{count} not applied" if count else "all applied",
        wanted="all applied",
        remedy="Run: python manage.py migrate",
    )


@examines("clock of the database", needs=(DATABASE,))
def examine_clock() -> Iterator[Observation]:
    """Find a clock that runs away from this process's."""
    before = datetime.now(UTC)
    theirs = _value("SELECT clock_timestamp()")
    yield clock_observation("clock of the database", theirs=theirs, before=before, after=datetime.now(UTC))


def clock_observation(what: str, *, theirs: datetime, before: datetime, after: datetime) -> Observation:
    """Compare a server's time, asked for between ``before`` and ``after``, with ours."""
    offset = max(before - theirs, theirs - after, timedelta(0)).total_seconds()
    return observed(
        offset <= MAX_CLOCK_OFFSET_SECONDS,
        what,
        found=f"{duration(offset)} from this machine's" if offset else "agrees with this machine's",
        wanted=f"at most {MAX_CLOCK_OFFSET_SECONDS:g} s",
        remedy="Let a time service (chrony, systemd-timesyncd) set the clocks of both machines.",
    )


@examines("connections of the database", needs=(DATABASE,))
def examine_connections() -> Iterator[Observation]:
    """Compare what all living processes may open with what the server allows (F56)."""
    available = int(_value("SHOW max_connections")) - int(_value("SHOW superuser_reserved_connections"))
    web = baton().web_connection_count
    others = sum(_connection_count(beat) for beat in Heartbeat.objects.fresh().exclude(role=Role.WEB))
    budget = web + others
    yield observed(
        budget <= available,
        "connections of the database",
        found=f"up to {budget} wanted (web {web}, other processes {others})",
        wanted=f"at most {available}, which the server allows",
        remedy="Raise max_connections, start fewer web threads or worker children, or put PgBouncer between.",
    )
    in_use = int(_value("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"))
    yield observed(
        in_use < available,
        "connections in use",
        found=count_of(in_use, "connection"),
        wanted=f"below {available}",
        remedy="See who holds them: SELECT client_addr, state, count(*) FROM pg_stat_activity GROUP BY 1, 2",
    )


def _connection_count(beat: Heartbeat) -> int:
    return CONNECTIONS_OF_ROLE.get(beat.role, 1) + beat.child_count


def _value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


#: Seconds that pruning may be behind: it runs every ten minutes, and a first run after an upgrade takes longer.
MAX_PRUNE_LAG_SECONDS: Final = 86_400


@examines("retention", needs=(DATABASE,))
def examine_retention() -> Iterator[Observation]:
    """Compare the oldest row of each table that grows with its retention. The oldest have the lowest numbers."""
    yield _table(OutboxMessage, "published_at", baton().outbox_retention_days)
    yield _table(ProcessedMessage, "processed_at", baton().inbox_retention_days)
    yield _table(Attempt, "sent_at", baton().outbox_retention_days)


def _table(model: type[models.Model], column: str, days: float) -> Observation:
    oldest: datetime | None = model._base_manager.order_by("pk").values_list(column, flat=True).first()
    allowed = timedelta(days=days, seconds=MAX_PRUNE_LAG_SECONDS)
    age = timezone.now() - oldest if oldest else timedelta(0)
    name = model._meta.verbose_name_plural
    return observed(
        age <= allowed,
        f"size of {name}",
        found=f"{_size(model)}, the oldest settled {duration(age.total_seconds())} ago" if oldest else _size(model),
        wanted=f"none kept longer than {days:g} days",
        remedy="See whether beat and a worker of the queue baton run: baton.prune deletes what is old.",
    )


def _size(model: type[models.Model]) -> str:
    statement = "SELECT pg_size_pretty(pg_total_relation_size(oid)), greatest(reltuples, 0) FROM pg_class"
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} WHERE oid = %s::regclass", [model._meta.db_table])
        row: Any = cursor.fetchone()
    return f"{row[0]}, about {int(row[1]):,} rows"
