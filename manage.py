#!/usr/bin/env python
"""Run a management command of the project."""

import gc
import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    gc.disable()  # until the command runs: nothing that is imported is garbage, and looking is a fifth of the start
    from django.core.management import ManagementUtility  # noqa: PLC0415 - settings come first
    from django.core.management.base import BaseCommand  # noqa: PLC0415
    from django.db import OperationalError  # noqa: PLC0415

    class Utility(ManagementUtility):
        """Django's own, which looks for garbage only once there can be some."""

        def fetch_command(self, subcommand: str) -> BaseCommand:
            """Return the command; by now Django and the command's module are imported."""
            command = super().fetch_command(subcommand)
            gc.freeze()
            gc.enable()
            return command

    try:
        Utility(sys.argv).execute()
    except OperationalError as error:
        from config.env.reachability import end_if_unreachable  # noqa: PLC0415 - it reads the environment

        end_if_unreachable(error)
        raise


if __name__ == "__main__":
    main()
