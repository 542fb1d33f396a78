"""A command at night does not wait for what it does not need: docs/decisions/imports-wait-until-somebody-asks.md."""

import json
import subprocess
import sys

import pytest
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.processes import process_environment

from orders import services
from tests.orders.factories import a_request, products

#: What only pages, the API, scrapes, system checks or other commands need.
FOREIGN = {
    "config.api", "config.urls", "baton_messaging.checks.questions", "baton_messaging.diagnosis.doctor",
    "baton_messaging.observability.prometheus", "baton_messaging.ui.admin", "baton_messaging.ui.board",
    "baton_messaging.ui.desk", "orders.admin", "orders.views", "prometheus_client", "pydantic_settings", "unfold.forms",
}  # fmt: skip
PROBE = """
import runpy, sys
try:
    runpy.run_path("manage.py", run_name="__main__")
finally:
    import gc, json
    seen = {"modules": list(sys.modules), "collects": gc.isenabled(), "kept": gc.get_freeze_count()}
    sys.stderr.write(json.dumps(seen))
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("empty_broker")
def test_triage_imports_nothing_that_only_others_need_and_looks_for_no_garbage_meanwhile() -> None:
    products()
    order = services.place_order(a_request())
    ended = subprocess.run(
        [sys.executable, "-c", PROBE, "triage", str(order.pk)],
        cwd=PROJECT_DIR,
        env=process_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "inventory.reserve_stock: relay stalled" in ended.stdout, ended.stderr
    seen = json.loads(ended.stderr)
    assert FOREIGN & {*seen["modules"]} == set()
    assert seen["collects"]  # a command may run for months: the relay is one
    assert seen["kept"] > 50_000  # objects that no search for garbage looks at


@pytest.mark.parametrize(
    ("module", "foreign"),
    [
        ("baton_dev.run", {"celery", "django", "psycopg", "redis"}),
        ("baton_dev.servers.postgres", {"celery", "psycopg"}),
        ("baton_dev.servers.valkey", {"celery", "redis"}),
    ],
)
def test_make_run_and_its_servers_start_without_what_the_programs_need(module: str, foreign: set[str]) -> None:
    probe = f"import sys, {module}; print(*sys.modules)"
    seen = subprocess.run(
        [sys.executable, "-c", probe], cwd=PROJECT_DIR, capture_output=True, text=True, check=True
    ).stdout
    assert foreign & {*seen.split()} == set()


def test_whoever_has_the_settings_has_the_celery_application() -> None:
    probe = "import config.settings, celery; print(celery.current_app.main)"
    seen = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=PROJECT_DIR,
        env=process_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout == "config\n"
