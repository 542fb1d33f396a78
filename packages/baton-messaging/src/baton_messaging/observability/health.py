"""Health of the web process: it needs the database and its migrations, and never the broker."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

UNAVAILABLE = 503


@require_safe
@never_cache
def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer as long as the process does; asks nobody else."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database is there and migrated, 503 with the reason otherwise."""
    try:
        waiting = unapplied_migration_count()
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "database": "not reachable"}, status=UNAVAILABLE)
    if waiting:
        reason = f"{waiting} not applied: run manage.py migrate"
        return JsonResponse({"status": "unavailable", "database": "ok", "migrations": reason}, status=UNAVAILABLE)
    return JsonResponse({"status": "ok", "database": "ok", "migrations": "ok"})


def unapplied_migrations() -> list[str]:
    """Return the app of each migration of this release that the database does not have."""
    executor = MigrationExecutor(connection)
    return [migration.app_label for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]


def unapplied_migration_count() -> int:
    """Return how many these are."""
    return len(unapplied_migrations())
