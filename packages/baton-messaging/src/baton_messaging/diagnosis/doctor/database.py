"""The database: is it there, is it migrated, does its clock agree, has it enough connections?"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection

from baton_messaging.conf import baton
from baton_messaging.database.errors import takes_writes
from baton_messaging.diagnosis.doctor.lines import Line, count_of, duration, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.models import Heartbeat
from baton_messaging.observability.health import unapplied_migration_count

#: Seconds. Leases, retries and schedules are compared across machines; two seconds are less than any of them.
MAX_CLOCK_OFFSET_SECONDS: Final = 2.0
#: Database connections of one process of each role, beside those of a worker's children.
CONNECTIONS_OF_ROLE: Final = {"worker": 1, "relay": 3, "collector": 2, "beat": 1}


@examines(DATABASE)
def examine_database() -> Iterator[Line]:
    """Say which server answers, and whether it is the one that takes writes."""
    version, is_writable = _value("SHOW server_version"), takes_writes()
    yield judged(
        is_writable,
        "database",
        found=f"PostgreSQL {version} answers" if is_writable else f"PostgreSQL {version} takes no writes",
        wanted="a server that takes writes",
        remedy="Is it a standby? Let DATABASE_URL name the primary, or both and ?target_session_attrs=read-write.",
    )


@examines("migrations", needs=(DATABASE,))
def examine_migrations() -> Iterator[Line]:
    """Find migrations that are not applied."""
    count = unapplied_migration_count()
    yield judged(
        not count,
        "migrations",
        found=f"{count} not applied" if count else "all applied",
        wanted="all applied",
        remedy="Run: python manage.py migrate",
    )


@examines("clock of the database", needs=(DATABASE,))
def examine_clock() -> Iterator[Line]:
    """Find a clock that runs away from this process's."""
    before = datetime.now(UTC)
    theirs = _value("SELECT clock_timestamp()")
    yield clock_line("clock of the database", theirs=theirs, before=before, after=datetime.now(UTC))


def clock_line(what: str, *, theirs: datetime, before: datetime, after: datetime) -> Line:
    """Compare a server's time, asked for between ``before`` and ``after``, with ours."""
    offset = max(before - theirs, theirs - after, timedelta(0)).total_seconds()
    return judged(
        offset <= MAX_CLOCK_OFFSET_SECONDS,
        what,
        found=f"{duration(offset)} from this machine's" if offset else "agrees with this machine's",
        wanted=f"at most {MAX_CLOCK_OFFSET_SECONDS:g} s",
        remedy="Let a time service (chrony, systemd-timesyncd) set the clocks of both machines.",
    )


@examines("connections of the database", needs=(DATABASE,))
def examine_connections() -> Iterator[Line]:
    """Compare what all living processes may open with what the server allows (F56)."""
    available = int(_value("SHOW max_connections")) - int(_value("SHOW superuser_reserved_connections"))
    web = baton().web_connection_count
    others = sum(_connection_count(beat) for beat in Heartbeat.objects.fresh())
    budget = web + others
    yield judged(
        budget <= available,
        "connections of the database",
        found=f"up to {budget} wanted (web {web}, other processes {others})",
        wanted=f"at most {available}, which the server allows",
        remedy="Raise max_connections, start fewer web threads or worker children, or put PgBouncer between.",
    )
    in_use = int(_value("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"))
    yield judged(
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
