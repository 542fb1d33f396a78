"""What all commands have in common."""

import os
import subprocess
import sys

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
