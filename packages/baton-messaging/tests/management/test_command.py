"""What all commands have in common."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import django
django.setup()
from baton_messaging.management.command import BaseCommand

class Command(BaseCommand):
    requires_system_checks = []

    def handle(self, *args, **options):
        self.stdout.write("a line")

Command().run_from_argv(["manage.py", "tell"])
"""


@pytest.mark.parametrize("buffering", ["", "1"])
def test_a_reader_that_goes_away_ends_it_quietly(buffering: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": buffering},
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (128 + 13, "")


@pytest.mark.parametrize("command", [["doctor"], ["triage", "1"]])
def test_without_the_setting_one_sentence_says_what_to_add(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "bare_settings.py").write_text(
        "SECRET_KEY = 'x'\n"
        "INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'baton_messaging']\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.postgresql', 'NAME': 'x', 'PORT': 1}}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DJANGO_SETTINGS_MODULE": "bare_settings"}
    asked = [sys.executable, "-m", "django", *command]
    ended = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith('Expected BATON = {"QUEUES": …} in the settings, got none.')
    assert len(ended.stderr.splitlines()) == 1
