"""A command of ours ends quietly when the reader of its output is gone: ``manage.py triage ID | head``."""

import os
import sys
from typing import Final

from django.core.management import base

READER_GONE: Final = 128 + 13  # what a shell says of a program that died of SIGPIPE


class BaseCommand(base.BaseCommand):
    """Django's, for a shell. ``call_command`` does not come by here."""

    def run_from_argv(self, argv: list[str]) -> None:
        """Run, and write what is buffered while a broken pipe can still be told from an error of the command."""
        try:
            try:
                super().run_from_argv(argv)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # Python writes once more at its end, which would fail again (*Source*: its manual, "Note on SIGPIPE").
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(READER_GONE)
