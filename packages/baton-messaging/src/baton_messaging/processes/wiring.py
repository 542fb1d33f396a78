"""A process's wiring is told as fingerprints: which servers, keys, storage and release it has. No secrets.

    {"broker": {"address": "mq:6379/0", "id": "<run id>/0"}, "keys": {"signs": "3f9c01ab", "accepts": ["3f9c01ab"]}, …}

Two processes that name one server by two host names have the same id. Where a server does not tell its id, or could
not be asked, it is empty, and only addresses can be compared.
"""

import hashlib
import hmac
import json
import platform
import resource
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import kombu
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from baton_messaging.conf import baton
from baton_messaging.events import event_class, known_names, known_versions

_KEY_CHARS: Final = 8  # enough to tell keys apart, too few to test guesses against
_PACKAGES: Final = ("baton-messaging", "celery", "kombu", "django")


def key_fingerprint(key: str) -> str:
    """Return what tells this key from others, and from which it cannot be had back."""
    return hmac.new(key.encode(), b"baton_messaging.processes.wiring", hashlib.sha256).hexdigest()[:_KEY_CHARS]


def keys() -> dict[str, Any]:
    """Return which key this process signs messages with, and which it accepts."""
    signs = key_fingerprint(settings.SECRET_KEY)
    return {"signs": signs, "accepts": sorted({signs, *map(key_fingerprint, settings.SECRET_KEY_FALLBACKS)})}


@cache
def release() -> dict[str, str]:
    """Return what code this process runs: the project's release, the packages' versions, the contracts of events."""
    return {
        "project": baton().release or _version_of_project(),
        **{name: _version_of(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "contracts": contracts_fingerprint(),
    }


def contracts_fingerprint() -> str:
    """Return what changes whenever an event gets another field, version or name."""
    contracts = [
        (name, number, event_class(name, number).model_json_schema())
        for name in known_names()
        for number in known_versions(name)
    ]
    return hashlib.sha256(json.dumps(contracts, sort_keys=True).encode()).hexdigest()[:_KEY_CHARS]


def limits() -> dict[str, int | None]:
    """Return what the system allows this process. None: no limit."""
    open_files, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return {"open_files": None if open_files == resource.RLIM_INFINITY else open_files, "memory_bytes": _memory_limit()}


def process_id() -> str:
    """Return what no other process has: the boot of its machine, and its start. A pid alone is used again."""
    return process_id_of("self")


def process_id_of(pid: int | str) -> str:
    """Return the same of another process of this machine; empty when there is none, or the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
    return f"{boot}-{started}"


def broker(connection: kombu.Connection) -> dict[str, str]:
    """Return which broker a connection leads to: connects. Raises the broker's errors."""
    address = broker_address(connection)
    connection.ensure_connection(max_retries=0)
    if connection.transport.driver_type == "amqp":
        server = connection.connection.server_properties.get("cluster_name", "")
    else:
        server = connection.default_channel.client.info("server").get("run_id", "")
    return {"address": address, "id": f"{server}/{address.partition('/')[2]}" if server else ""}


def broker_address(connection: kombu.Connection) -> str:
    """Return where a connection leads to, without login: ``mq.example.com:6379/0``."""
    place = connection.virtual_host or "/"
    if connection.transport.driver_type != "amqp":
        place = str(place).strip("/") or "0"
    port = connection.port or connection.transport.default_port
    return f"{connection.hostname or 'localhost'}:{port}/{place}"


def database(connection: BaseDatabaseWrapper, address: str) -> dict[str, Any]:
    """Return which database a connection leads to. Raises the database's errors.

    The server's own id; where that may not be asked, when our tables came to be there: to the microsecond.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_function_privilege('pg_control_system()', 'execute')")
        (may_ask,) = cursor.fetchone()
        server = "(SELECT system_identifier::text FROM pg_control_system())"
        made = "(SELECT min(applied)::text FROM django_migrations WHERE app = 'baton_messaging')"
        cursor.execute(f"SELECT concat({server if may_ask else made}, '/', current_database()), pg_is_in_recovery()")
        server_id, in_recovery = cursor.fetchone()
    return {"address": address, "id": server_id, "in_recovery": in_recovery}


def mail() -> dict[str, str]:
    """Return where this process's mails go: the server's name, empty where there is none (files, a console)."""
    mailers = getattr(settings, "MAILERS", None)
    if mailers:
        mailer = mailers.get("default", {})
        backend, options = str(mailer.get("BACKEND", "")), mailer.get("OPTIONS", {})
        host, port = options.get("host", ""), options.get("port", "")
    else:
        backend = str(settings.EMAIL_BACKEND)
        host, port = (settings.EMAIL_HOST, settings.EMAIL_PORT) if "smtp" in backend else ("", "")
    return {"backend": backend, "server": f"{host}:{port}" if host else ""}


def storage(health: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the id of each storage that a check has seen (health/storage.py), by the name of the check."""
    seen = ((one["name"], one["facts"]) for one in health)
    return {str(name): str(facts["identity"]) for name, facts in seen if "storage" in facts and facts.get("identity")}


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _version_of_project() -> str:
    """Return the version in the project's pyproject.toml, beside its settings."""
    folder = getattr(settings, "BASE_DIR", None)
    try:
        return str(tomllib.loads((Path(folder) / "pyproject.toml").read_text())["project"]["version"]) if folder else ""
    except (OSError, KeyError, ValueError):
        return ""


def _memory_limit() -> int | None:
    """Return what the container may use."""
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
