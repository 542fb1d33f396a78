"""The Japanese catalogues are kept in step with the code.

python -m baton_dev.translations          add new texts, drop unused ones, compile; exit 1 while one is not translated
python -m baton_dev.translations --check  change nothing, only tell what is wrong
"""

import argparse
import sys

import django

from baton_dev.environment import complete_environment


def main() -> int:
    """Do it for each catalogue; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m baton_dev.translations")
    parser.add_argument("--check", action="store_true", help="change nothing, only tell what is wrong")
    is_check = parser.parse_args().check
    complete_environment()
    django.setup()
    from baton_dev.translations.catalogues import catalogues, faults, update  # noqa: PLC0415 - settings come first

    found = []
    for catalogue in catalogues():
        if not is_check:
            update(catalogue)
        found += [f"{catalogue}: {fault}" for fault in faults(catalogue)]
    sys.stdout.writelines(f"{line}\n" for line in found or ["All texts are translated."])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
