"""A process introduces itself to its servers: its connections to database and broker carry its role, name and id."""

from typing import Any

from django.db import connection

from baton_messaging.broker import client_name
from baton_messaging.database.application_name import name_connections

_introduced: list[tuple[str, str]] = []


def introduce(role: str, name: str) -> None:
    """Name all connections that this process and its children make from now on."""
    _introduced[:] = [(role, name)]
    client_name.introduce(role, name, database=database_address())
    name_connections(role, name)


def introduce_child() -> None:
    """Name the connections of a child that was forked: by its parent's name, and its own id."""
    if _introduced:
        role, name = _introduced[0]
        # A child has no heartbeat of its own; it may publish, and never consumes.
        client_name.introduce(f"{role}-child", name, database=database_address())
        name_connections(role, name)


def database_address() -> str:
    """Return where this process writes to, without login: ``shop@db.example.com:5432``."""
    settings: Any = connection.settings_dict
    return f"{settings['NAME']}@{settings['HOST'] or 'localhost'}:{settings['PORT'] or 5432}"
