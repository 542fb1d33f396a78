"""Commands start a process that is missing: triage and doctor say the same, in words that can be pasted.

Celery's application is called after the module that ``-A`` takes, as in Celery's manual (``Celery("mysite")``). Where
it is not, no module of that name can be imported, and a placeholder stands for it.
"""

import shlex
from importlib.util import find_spec
from typing import Final

from celery import current_app
from django.db import connection

RELAY: Final = "python manage.py relay"
COLLECTOR: Final = "python manage.py collect_dead_letters"


def beat() -> str:
    """Return the command that starts Celery's beat."""
    return f"python -m celery -A {_application()} beat"


def worker(queue: str) -> str:
    """Return the command that starts a worker of a queue."""
    return f"python -m celery -A {_application()} worker -Q {queue}"


def sql(*statements: str) -> str:
    """Return the command that sends statements to the project's database, each in a transaction of its own."""
    return "python manage.py dbshell -- " + " ".join(f"-c {_in_quotes(statement)}" for statement in statements)


def maintenance_sql(statement: str) -> str:
    """Return the command that sends a statement past the project's database, which lets nobody in: as a superuser."""
    settings = connection.settings_dict
    server = f"-h {settings['HOST'] or 'localhost'} -p {settings['PORT'] or 5432}"
    return f"psql {server} -U postgres -d postgres -c {_in_quotes(statement)}"


def _in_quotes(statement: str) -> str:
    """Return it for a shell, as a person would write it: SQL has single quotes of its own."""
    return f'"{statement}"' if "'" in statement and not set('"$`\\!') & set(statement) else shlex.quote(statement)


def _application() -> str:
    name = current_app.main or ""
    return name if _is_module(name) else "YOUR_PROJECT"


def _is_module(name: str) -> bool:
    try:
        return name != "__main__" and find_spec(name) is not None
    except (ImportError, ValueError):  # its package is not there, or the name is none
        return False
