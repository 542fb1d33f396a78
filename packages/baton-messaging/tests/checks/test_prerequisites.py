"""What is missing beneath all else is said alone, in one sentence: the rest could not even be imported."""

from typing import Any

import pytest
from django.core.checks import run_checks

from tests.test_extras import run

SETTINGS = "import sys, django.conf; bare = __import__('tests.project.bare', fromlist=['bare']); "
CHECK = "from django.core import management; management.execute_from_command_line(['manage.py', 'check'])"


def of_baton() -> list[Any]:
    return [message for message in run_checks() if str(message.id).startswith("baton.")]


@pytest.mark.parametrize("name", ["django.contrib.postgres", "django_celery_results"])
def test_an_app_that_is_missing_is_named_with_the_line_and_without_a_traceback(name: str) -> None:
    code, output = run(f"{SETTINGS}bare.INSTALLED_APPS.remove({name!r}); {CHECK}", blocked=[])
    assert (code, "Traceback" in output) == (1, False), output
    assert output.count("baton.") == 1
    assert f"baton.E004) INSTALLED_APPS: expected {name}, got none." in output
    assert f'Add: INSTALLED_APPS += ["{name}"]' in output


def test_another_database_is_refused() -> None:
    sqlite = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    code, output = run(f"{SETTINGS}bare.DATABASES = {sqlite!r}; {CHECK}", blocked=[])
    assert (code, "Traceback" in output) == (1, False), output
    assert "baton.E011) DATABASES['default']: expected PostgreSQL, got django.db.backends.sqlite3." in output


def test_without_a_table_of_queues_nothing_else_is_asked_and_the_line_is_there(settings: Any) -> None:
    settings.BATON = {}
    (message,) = of_baton()
    assert (message.id, 'Add, for a start: BATON = {"QUEUES": (Queue(' in message.msg) == ("baton.E002", True)
