"""Names of a project and its app, refused in one sentence where Python, Django or Baton has another use for them."""

import keyword
import re
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from typing import Final

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
MAX_LENGTH: Final = 24  # characters: the app's name begins those of tables, indexes and worker nodes
#: Folders and modules of a made project, queues of Baton's own, and labels of Django's apps in it.
TAKEN: Final = frozenset(
    {"config", "manage", "static", "templates", "tests", "var", "vendor"}
    | {"baton", "dead_letters"}
    | {"admin", "auth", "contenttypes", "messages", "postgres", "sessions", "staticfiles"}
)


class BadName(ValueError):
    """A name that cannot be; the message is one sentence for the person at the keyboard."""


def check_name(variable: str, name: str, *, search: Iterable[str]) -> None:
    """Raise BadName unless a project or an app can be called that. ``search``: where installed modules are."""
    if not name:
        raise BadName(f"{variable}: missing. Name it as in make new DIR=../billing NAME=billing APP=invoices.")
    if not _NAME.fullmatch(name):
        raise BadName(f"{variable}: {name!r} is no name of small letters (a to z), digits and underscores.")
    if len(name) > MAX_LENGTH:
        raise BadName(f"{variable}: {name!r} is longer than {MAX_LENGTH} characters.")
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise BadName(f"{variable}: {name!r} is a keyword of Python's; take another name.")
    if name in sys.stdlib_module_names:
        raise BadName(f"{variable}: {name!r} is a module of Python's; take another name.")
    if name in TAKEN:
        raise BadName(f"{variable}: {name!r} is taken in each project made this way; take another name.")
    if PathFinder.find_spec(name, list(search)):
        raise BadName(f"{variable}: {name!r} is a module of an installed package; take another name.")
