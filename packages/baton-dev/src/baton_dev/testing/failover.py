"""A failover puts another server behind the same address: one that takes no writes, or ends what takes long."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

from baton_dev.testing.processes import url_of_test_database

READ_ONLY = "default_transaction_read_only=on"  # as a standby is


@contextmanager
def new_connections(setting: str = "") -> Iterator[None]:
    """Drop the connection, and let those that this process makes anew, in whatever thread, have the setting.

    Undo that, and whatever else was changed, at the end.
    """
    before = dict(connection.settings_dict)
    connection.close()
    if setting:
        connection.settings_dict["OPTIONS"] = {**before["OPTIONS"], "options": f"-c {setting}"}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


@contextmanager
def standby() -> Iterator[None]:
    """Let the server take no writes, and make every process and thread but this one connect anew."""
    _change_database("SET default_transaction_read_only = on")
    try:
        yield
    finally:
        _change_database("RESET default_transaction_read_only")


def _change_database(change: str) -> None:
    ours = connection.connection.info.backend_pid if connection.connection else 0
    with psycopg.connect(url_of_test_database(), autocommit=True) as other:
        other.execute("SET default_transaction_read_only = off")
        other.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" {change}')
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> ALL(%s)",
            [[ours, other.info.backend_pid]],
        )
