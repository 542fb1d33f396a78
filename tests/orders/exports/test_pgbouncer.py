"""Behind PgBouncer in transaction mode, where a server-side cursor would break: an export is built all the same."""

import os
import subprocess
import sys

import pytest
from baton_dev.project import PROJECT_DIR

from orders.exports.models import Export
from orders.exports.states import ExportState, Format
from tests.orders.exports.factories import an_export, many_orders

pytestmark = pytest.mark.django_db(transaction=True)

BUILD = """
import django
django.setup()
from orders.exports.building import build
for export_id in {}:
    build(export_id, worker="w")
"""


def test_exports_are_built_behind_pgbouncer(pooled_url: str, committed_catalogue: None) -> None:
    many_orders(3_000)
    exports = [an_export(file_format=file_format) for file_format in Format]
    program = BUILD.format([str(export.pk) for export in exports])
    subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=PROJECT_DIR, env={**os.environ, "DATABASE_URL": pooled_url}
    )
    assert set(Export.objects.values_list("state", "rows_done")) == {(ExportState.READY, 3_000)}
