"""A process's connections to PostgreSQL carry its name: ``baton worker inventory@vm 4711`` in pg_stat_activity.

The number is the process's id on its machine; each child of a worker has connections, and a number, of its own. A name
that the project has set (``OPTIONS["application_name"]``, the URL, PGAPPNAME) stays in front.
"""

import os
from typing import Any, Final

from django.db import connections

MAX_BYTES: Final = 63  # PostgreSQL cuts what is longer (NAMEDATALEN)

_theirs: dict[str, str] = {}  # by the alias of the database


def name_connections(role: str, name: str) -> None:
    """Name all connections that this process makes from now on."""
    settings: Any = connections.settings
    for alias, database in settings.items():
        if "postgresql" not in database["ENGINE"]:
            continue
        options = database.setdefault("OPTIONS", {})
        theirs = _theirs.setdefault(alias, options.get("application_name") or os.environ.get("PGAPPNAME", ""))
        options["application_name"] = application_name(role, name, pid=os.getpid(), theirs=theirs)


def application_name(role: str, name: str, *, pid: int, theirs: str = "") -> str:
    """Return the name, cut in its middle where it is too long.

    >>> application_name("worker", "inventory@vm", pid=4711)
    'baton worker inventory@vm 4711'
    >>> application_name("worker", "inventory@" + 60 * "v", pid=4711, theirs="shop")
    'shop baton worker inventory@vvvvvvvvvvvvvvvvvvvvvvvvvvvvvv 4711'
    """
    start, end = f"{theirs} baton {role} {name}".strip(), f" {pid}"
    room = MAX_BYTES - len(end)
    return start.encode("ascii", "replace").decode()[:room].rstrip() + end
