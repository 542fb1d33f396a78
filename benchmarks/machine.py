"""What the figures were measured on: machine, versions, and what one step to the database costs here."""

import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

import redis
from django.db import connection, transaction

from benchmarks.report import Figure, Section

PACKAGES = ("django", "celery", "kombu", "redis", "psycopg", "pydantic", "gunicorn")
_SAMPLE_COUNT = 50


def describe() -> str:
    """Return machine and versions, a line each."""
    load = ", ".join(f"{figure:.1f}" for figure in os.getloadavg())
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return "\n".join(
        [
            f"machine   {_processor()}, {os.cpu_count()} cores, {_memory()}, {platform.system()} {platform.release()}",
            f"load      {load} (1, 5, 15 minutes, before the bench)",
            f"versions  Python {sys.version.split()[0]}, {packages}",
            f"servers   {_postgres()}, Valkey {_valkey()}",
            "",
        ]
    )


def steps() -> Section:
    """Return what single steps cost: on machines where they are dear, all that follows is made of them."""
    trips = [_seconds_of(lambda: connection.cursor().execute("SELECT 1")) for _ in range(_SAMPLE_COUNT)]
    commits = [_seconds_of(_insert_and_commit) for _ in range(_SAMPLE_COUNT)]
    figures = [
        Figure("round trip to PostgreSQL (SELECT 1)", [median(trips) * 1000], "ms"),
        Figure("one row inserted and committed", [median(commits) * 1000], "ms"),
    ]
    return Section("steps", figures)


def _insert_and_commit() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO benchmarks_effect (order_id, sku, quantity) VALUES (gen_random_uuid(), 'step', 1)")


def _seconds_of(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory() -> str:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{total / 2**30:.1f} GiB"


def _postgres() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        return f"PostgreSQL {cursor.fetchone()[0]}"


def _valkey() -> str:
    with redis.Redis.from_url(os.environ["CELERY_BROKER_URL"]) as broker:
        info = broker.info("server")
        return str(info.get("valkey_version") or info["redis_version"])
