"""A process's connections to the broker carry its name: CLIENT LIST of Redis and RabbitMQ's own list show it.

    baton|worker|inventory@vm|vm|4711|shop@db.example.com:5432

Role, name, host, process id, and the database that it writes to: a person who finds a connection there knows what to
look for, and where. No secrets: names are shown to all that may list connections.
"""

import os
import re
import socket
from dataclasses import dataclass
from typing import Final

_PREFIX: Final = "baton"
_UNFIT: Final = re.compile(r"[^!-{}~]")  # CLIENT SETNAME takes no spaces; the bar is ours
_introduced: list[tuple[str, str, str]] = []


@dataclass(frozen=True)
class ClientName:
    """Who a connection belongs to."""

    role: str
    name: str
    hostname: str
    pid: int
    database: str

    def __str__(self) -> str:
        parts = (self.role, self.name, self.hostname, str(self.pid), self.database)
        return "|".join([_PREFIX, *(_UNFIT.sub("?", part)[:200] for part in parts)])


def introduce(role: str, name: str, *, database: str) -> None:
    """Name all connections that this process makes from now on."""
    _introduced[:] = [(role, name, database)]


def client_name() -> str:
    """Return the name; empty for a process that has not been introduced."""
    if not _introduced:
        return ""
    role, name, database = _introduced[0]
    return str(ClientName(role, name, socket.gethostname(), os.getpid(), database))


def read_client_name(text: str) -> ClientName | None:
    """Return whose connection it is; None for a name that is not of this form.

    >>> read_client_name("baton|worker|part@vm|vm|4711|shop@db:5432").name
    'part@vm'
    >>> read_client_name("celery") is None
    True
    """
    parts = text.split("|")
    if len(parts) != 6 or parts[0] != _PREFIX or not parts[4].isdecimal():  # noqa: PLR2004 - the parts named above
        return None
    return ClientName(parts[1], parts[2], parts[3], int(parts[4]), parts[5])
