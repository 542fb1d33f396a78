"""Examination of a project with another Baton: what `migrate` would do, and what `check` says. Changes nothing.

The project's own servers are started for it, if they are the embedded ones and have been used before. A program of its
own, because it must run with the packages that have just been installed:

    python -m baton_dev.upgrade.examination           look
    python -m baton_dev.upgrade.examination NAME      go back to that migration of Baton's
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from baton_dev.environment import complete_environment
from baton_dev.project import PROJECT_DIR, environment
from baton_dev.run import errors_in_one_line
from baton_dev.servers.selection import embedded_services, owner_url, service_urls

APP = "baton_messaging"


@contextmanager
def servers() -> Iterator[dict[str, str] | None]:
    """Give the environment of manage.py, as the owner of the tables; None where there is no database yet."""
    env = environment()
    services = embedded_services(env)
    if not all(service.was_prepared for service in services):
        yield None
        return
    with ExitStack() as running:
        for service in services:
            running.enter_context(service)
        variables = {**os.environ, **service_urls(services)}
        yield {**variables, "DATABASE_URL": owner_url(env, services) or env.DATABASE_URL}


def examine() -> int:
    """Print the plan and the objections; return 0 unless one of the commands fails."""
    with servers() as variables:
        if variables is None:
            sys.stdout.write("There is no database yet, so there is nothing to migrate.\n")
            return _manage({**os.environ}, "check")
        return _manage(variables, "migrate", "--plan") or _manage(variables, "check")


def migrate_back(name: str) -> int:
    """Undo Baton's migrations after this one."""
    with servers() as variables:
        if variables is None:
            return 0
        return _manage(variables, "migrate", APP, name, "--plan") or _manage(variables, "migrate", APP, name)


def _manage(variables: dict[str, str], *words: str) -> int:
    sys.stdout.write(f"\n$ manage.py {' '.join(words)}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "manage.py", *words], cwd=PROJECT_DIR, env=variables, check=False).returncode


def main(words: list[str]) -> int:
    """Do what the command line asks for."""
    complete_environment()
    with errors_in_one_line():
        return migrate_back(words[0]) if words else examine()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
