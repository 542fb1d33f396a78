"""The connection to PostgreSQL: whoever asks a server that never answers learns soon that it is away."""

import re
import socket
import time
from pathlib import Path

import pytest
from baton_messaging.database.errors import is_database_away
from django.db import OperationalError, connection

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


def test_connecting_ends_before_a_probe_would_take_it_for_a_death() -> None:
    found = re.search(r"timeoutSeconds: (\d+)", OPERATIONS.read_text())
    assert found
    assert connection.get_connection_params()["connect_timeout"] <= int(found.group(1)) / 2


@pytest.mark.django_db
def test_a_server_that_accepts_and_says_nothing_is_away() -> None:
    silent = connection.copy()
    with socket.create_server(("127.0.0.1", 0)) as server:
        silent.settings_dict |= {"HOST": "127.0.0.1", "PORT": server.getsockname()[1]}
        silent.settings_dict["OPTIONS"] = {**silent.settings_dict["OPTIONS"], "connect_timeout": 2}
        began = time.monotonic()
        with pytest.raises(OperationalError) as raised:
            silent.ensure_connection()
    assert is_database_away(raised.value)
    assert time.monotonic() - began < 30  # or else for minutes, and the machine may stand still
