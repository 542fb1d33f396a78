"""What needs no extra works without it, and what needs one says which. Each in a process that cannot import them."""

import os
import subprocess
import sys
from uuid import uuid4

import pytest
from baton_dev.testing.processes import process_environment
from baton_messaging.publish import publish
from django.db import transaction

from tests.dead_letters.factories import a_letter
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

EXTRAS = ["django_htmx", "ninja", "opentelemetry", "prometheus_client", "unfold"]
WITHOUT = "import sys; sys.modules.update(dict.fromkeys({blocked!r})); "
MANAGE = "from django.core.management import execute_from_command_line as run; run(['manage.py', *sys.argv[1:]])"


def run(
    program: str, *words: str, blocked: list[str] = EXTRAS, settings: str = "tests.project.bare", **variables: str
) -> tuple[int, str]:
    """Return exit code and all output of a program that cannot import what is blocked."""
    environment = {**os.environ, **process_environment(), "DJANGO_SETTINGS_MODULE": settings, **variables}
    command = [sys.executable, "-c", WITHOUT.format(blocked=blocked) + program, *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def manage(*words: str) -> tuple[int, str]:
    code, output = run(MANAGE, *words)
    assert "Traceback" not in output, output
    return code, output


def test_every_command_works_without_any_extra() -> None:
    letter = a_letter()
    key = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=key))
    assert manage("check")[0] == 0
    code, output = manage("triage", str(key))
    assert (code, "relay stalled" in output) == (1, True)
    code, output = manage("triage", str(letter.pk))
    assert (code, f"dead_letters show {letter.pk}" in output) == (1, True)
    assert "/admin/" not in output  # there is no page to open
    assert "sample.take_one" in manage("triage", "--stuck", "--older-than", "0s", "--format", "json")[1]
    code, output = manage("doctor")
    assert (code, "FINDING" in output) == (1, True)
    assert f'"id": {letter.pk}' in manage("dead_letters", "list", "--format", "json")[1]
    code, output = manage("dead_letters", "replay", str(letter.pk))
    assert (code, "0 resolved, 1 on their way" in output) == (0, True)
    assert "sample.take_one" in manage("consumers", "list")[1]
    assert manage("reconcile", "--dry-run")[0] == 0
    assert manage("alive", "relay")[0] == 1
    assert manage("backlog_check")[0] == 0


def test_health_needs_no_extra_and_metrics_name_theirs() -> None:
    get = (
        "import django; django.setup(); from django.test import Client; client = Client(); "
        "[print(a.status_code, a.content.decode()) for a in map(client.get, ['/healthz', '/readyz', '/metrics'])]"
    )
    code, output = run(get)
    assert code == 0, output
    healthz, readyz, metrics, *_log = output.splitlines()
    assert (healthz[:3], readyz[:3]) == ("200", "200")
    assert metrics == "501 Install the extra `prometheus` of baton-messaging: prometheus_client cannot be imported."


@pytest.mark.parametrize("missing", ["ninja", "django_htmx"])
def test_the_pages_without_their_extra_are_refused_in_one_sentence(missing: str) -> None:
    start = (
        "import tests.project.bare as bare; "
        "bare.INSTALLED_APPS += ['django.contrib.admin', 'baton_messaging.ui']; import django; django.setup()"
    )
    code, output = run(start, blocked=[missing])
    assert code == 1
    assert output.splitlines()[-1] == (
        "django.core.exceptions.ImproperlyConfigured: Install the extra `ui` of baton-messaging, or take "
        f"baton_messaging.ui out of INSTALLED_APPS: {missing} cannot be imported."
    )


@pytest.mark.parametrize("missing", ["baton_messaging", "django.contrib.admin", "django_htmx"])
def test_the_pages_without_an_app_that_they_need_name_it_in_one_sentence(missing: str) -> None:
    apps = ["django.contrib.admin", "django_htmx", "baton_messaging.ui"]
    start = (
        "import tests.project.bare as bare; "
        f"bare.INSTALLED_APPS = [app for app in [*{apps!r}, *bare.INSTALLED_APPS] if app != {missing!r}]; "
        "import django; django.setup()"
    )
    code, output = run(start, blocked=[])
    assert code == 1
    last = output.splitlines()[-1]
    assert last.startswith(f"django.core.exceptions.ImproperlyConfigured: Add {missing} to INSTALLED_APPS: "), output


def test_tracing_without_its_extra_says_so_in_one_line() -> None:
    start = "import django; django.setup(); from baton_messaging.messages import tracing; tracing.start('relay')"
    code, output = run(start, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert code == 0, output
    assert output.count("Install the extra `otel` of baton-messaging.") == 1
