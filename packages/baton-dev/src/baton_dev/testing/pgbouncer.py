"""A PgBouncer stands before the tests' server, in transaction mode: two transactions may get different connections."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection, connections

from baton_dev.servers.ports import LOOPBACK, free_port
from baton_dev.testing.processes import wait_until

POOL_SIZE = 3


@pytest.fixture
def pooled_url() -> Iterator[str]:
    """Run a PgBouncer before the tests' server, and return the address of the test database through it."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not Path(program).exists():
        reason = "pgbouncer is not installed (Debian: apt-get install pgbouncer)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    server, name = urlsplit(os.environ["DATABASE_URL"]), connection.settings_dict["NAME"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # PgBouncer refuses to run as root, and becomes nobody
        port = free_port(seed=folder)
        (Path(folder) / "users.txt").write_text(f'"{server.username}" "{server.password}"\n')
        (Path(folder) / "pgbouncer.ini").write_text(
            f"[databases]\n{name} = host={server.hostname} port={server.port}\n"
            f"[pgbouncer]\nlisten_addr = {LOOPBACK}\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {folder}/users.txt\npool_mode = transaction\n"
            f"default_pool_size = {POOL_SIZE}\n"
        )
        as_nobody = ["-u", "nobody"] if os.geteuid() == 0 else []
        with subprocess.Popen([program, *as_nobody, f"{folder}/pgbouncer.ini"]) as process:
            address = f"postgres://{server.username}:{server.password}@{LOOPBACK}:{port}/{name}"
            try:
                wait_until(lambda: answers(address) or process.poll() is not None, what="PgBouncer")
                assert process.poll() is None
                yield address
            finally:
                process.terminate()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture
def pooled(pooled_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the connections that this process opens from now on go through PgBouncer; return its address."""
    monkeypatch.setitem(connections.settings["default"], "PORT", urlsplit(pooled_url).port)
    return pooled_url


def left_behind(url: str, setting: str) -> set[str]:
    """Return what a setting is on all connections to the server that a PgBouncer keeps."""
    with ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(url)) for _ in range(POOL_SIZE)]
        rows = [client.execute(f"SHOW {setting}").fetchone() for client in clients]  # begins a transaction on each
        return {row[0] for row in rows if row}
