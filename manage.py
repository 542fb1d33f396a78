#!/usr/bin/env python
"""Run a management command of the project."""

import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 - settings come first
    from django.db import OperationalError  # noqa: PLC0415

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        from config.reachability import end_if_unreachable  # noqa: PLC0415 - it reads the environment

        end_if_unreachable(error)
        raise


if __name__ == "__main__":
    main()
