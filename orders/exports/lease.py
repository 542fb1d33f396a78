"""A lease says which worker may build an export, and until when: by the database's clock, the same for all workers."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now


@dataclass(frozen=True)
class Hold:
    """The right of one worker to build one export: valid while the row still counts the same attempt."""

    export_id: UUID
    attempt: int


def lease_end() -> CombinedExpression:
    """Return the moment until which a lease that is taken or renewed now is good, as an expression for an UPDATE."""
    return Now() + timedelta(seconds=settings.EXPORTS["LEASE_SECONDS"])


def database_now() -> datetime:
    """Return the database's time: what leases and rates are measured by."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        return cast("datetime", cursor.fetchone()[0])
