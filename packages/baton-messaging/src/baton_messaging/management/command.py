"""A command of ours ends without a traceback where ``BATON`` is not set, or the reader is gone (``… | head``)."""

import os
import sys
from typing import Final

from django.core.management import base

from baton_messaging.conf import BadSetting, baton

BAD_SETTING: Final = 2
READER_GONE: Final = 128 + 13  # what a shell says of a program that died of SIGPIPE


class BaseCommand(base.BaseCommand):
    """Django's, for a shell. ``call_command`` does not come by here."""

    def run_from_argv(self, argv: list[str]) -> None:
        """Run, and write what is buffered while a broken pipe can still be told from an error of the command."""
        try:
            try:
                baton()
                super().run_from_argv(argv)
            except BadSetting as error:  # at night nobody reads a traceback
                sys.stderr.write(f"{error}\n")
                sys.exit(BAD_SETTING)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            # Python writes once more at its end, which would fail again (*Source*: its manual, "Note on SIGPIPE").
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(READER_GONE)
