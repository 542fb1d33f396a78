"""Behind PgBouncer in transaction mode, where a server-side cursor would break: an export is built all the same."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from config.local.ports import LOOPBACK, free_port
from orders.exports.models import Export
from orders.exports.states import ExportState, Format
from tests.orders.exports.factories import an_export, many_orders
from tests.processes import ROOT, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

BUILD = """
import django
django.setup()
from orders.exports.building import build
for export_id in {}:
    build(export_id, worker="w")
"""


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
            "default_pool_size = 3\n"
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


def test_exports_are_built_behind_pgbouncer(pooled_url: str, committed_catalogue: None) -> None:
    many_orders(3_000)
    exports = [an_export(file_format=file_format) for file_format in Format]
    program = BUILD.format([str(export.pk) for export in exports])
    subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=ROOT, env={**os.environ, "DATABASE_URL": pooled_url}
    )
    assert set(Export.objects.values_list("state", "rows_done")) == {(ExportState.READY, 3_000)}
