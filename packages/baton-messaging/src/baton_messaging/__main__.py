"""``python -m baton_messaging``: ``manage.py baton_install`` for a project that does not have the app yet.

Django finds commands in installed apps only. So the project's own manage.py is run as it is, and finds this one
command beside those. It takes the same options.
"""

import runpy
import sys
from pathlib import Path

from django.core.management import BaseCommand, ManagementUtility

COMMAND = "baton_install"


def main() -> None:
    """Run the manage.py of the folder that we are in."""
    script = Path("manage.py")
    if not script.exists():
        sys.exit("Expected a manage.py here, found none. Go to the folder that has it.")
    find = ManagementUtility.fetch_command

    def find_ours(utility: ManagementUtility, name: str) -> BaseCommand:
        if name != COMMAND:
            return find(utility, name)
        from baton_messaging.management.commands.baton_install import Command  # noqa: PLC0415 - needs settings

        return Command()

    ManagementUtility.fetch_command = find_ours  # type: ignore[assignment, method-assign]
    sys.argv = [str(script), COMMAND, *sys.argv[1:]]
    sys.path.insert(0, str(Path.cwd()))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SyntaxError as error:
        sys.exit(f"{error.filename}, line {error.lineno}: {error.msg}. Nothing was written.")


if __name__ == "__main__":
    main()
