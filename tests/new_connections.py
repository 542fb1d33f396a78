"""Another setting of the server for the connections that this process makes, in whatever thread: as a failover does."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

READ_ONLY = "default_transaction_read_only=on"  # as a standby is


@contextmanager
def new_connections(setting: str = "") -> Iterator[None]:
    """Drop the connection, and let new ones have the setting; undo that, and whatever else was changed, at the end."""
    before = dict(connection.settings_dict)
    connection.close()
    if setting:
        connection.settings_dict["OPTIONS"] = {**before["OPTIONS"], "options": f"-c {setting}"}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)
