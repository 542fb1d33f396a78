"""What needs no extra works without it, and what needs one says which. Each in a process that cannot import them."""

import json
import os
import shlex
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
#: Runs command after command, each a JSON list of words, and prints the exit code and all output of each.
MANAGE = """
import contextlib, io, json, traceback
from django.core.management import execute_from_command_line

def manage(words):
    code, output = 0, io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            execute_from_command_line(["manage.py", *words])
        except SystemExit as end:
            code = end.code or 0
        except Exception:
            code = 1
            traceback.print_exc()
    return code, output.getvalue()

print(json.dumps([manage(words) for words in map(json.loads, sys.argv[1:])]))
"""


def run(
    program: str, *words: str, blocked: list[str] = EXTRAS, settings: str = "tests.project.bare", **variables: str
) -> tuple[int, str]:
    """Return exit code and all output of a program that cannot import what is blocked."""
    environment = {**os.environ, **process_environment(), "DJANGO_SETTINGS_MODULE": settings, **variables}
    command = [sys.executable, "-c", WITHOUT.format(blocked=blocked) + program, *words]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def manage(*commands: str) -> list[tuple[int, str]]:
    """Run each command in one process, whose start takes longer than all that they do."""
    code, output = run(MANAGE, *(json.dumps(shlex.split(command)) for command in commands))
    assert (code, "Traceback" not in output) == (0, True), output
    answers = next(line for line in output.splitlines() if line.startswith("[["))  # the log may follow
    return [(code, said) for code, said in json.loads(answers)]


def test_every_command_works_without_any_extra() -> None:
    letter = a_letter()
    key = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=key))
    check, of_message, of_letter, stuck, doctor, listed, replay, consumers, reconcile, alive, backlog = manage(
        "check",
        f"triage {key}",
        f"triage {letter.pk}",
        "triage --stuck --older-than 0s --format json",
        "doctor",
        "dead_letters list --format json",
        f"dead_letters replay {letter.pk}",
        "consumers list",
        "reconcile --dry-run",
        "alive relay",
        "backlog_check",
    )
    assert check[0] == 0
    assert (of_message[0], "relay stalled" in of_message[1]) == (1, True)
    assert (of_letter[0], f"dead_letters show {letter.pk}" in of_letter[1]) == (1, True)
    assert "/admin/" not in of_letter[1]  # there is no page to open
    assert "sample.take_one" in stuck[1]
    assert (doctor[0], "FINDING" in doctor[1]) == (1, True)
    assert f'"id": {letter.pk}' in listed[1]
    assert (replay[0], "0 resolved, 1 on their way" in replay[1]) == (0, True)
    assert "sample.take_one" in consumers[1]
    assert (reconcile[0], alive[0], backlog[0]) == (0, 1, 0)


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
