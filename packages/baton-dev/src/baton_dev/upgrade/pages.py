"""Pages of a release cut to what lies between two versions: what changed, and what is to be done about it."""

import re
from typing import Final

from packaging.version import InvalidVersion, Version

_HEADING: Final = re.compile(r"^(?=## )", re.MULTILINE)
_VERSION: Final = re.compile(r"\d+\.\d+[\w.]*")


def since(page: str, version: str) -> str:
    """Return the sections of a changelog, or of instructions, for versions after this one.

    A section is about the last version that its heading names (``## From 0.2 to 0.3``); one that names none is about
    what is not released yet.
    """
    _head, *sections = _HEADING.split(page)
    return "".join(section for section in sections if _is_after(section.partition("\n")[0], version)).strip()


def _is_after(heading: str, version: str) -> bool:
    named = _VERSION.findall(heading.partition("–")[0])
    try:
        return not named or Version(named[-1]) > Version(version)
    except InvalidVersion:
        return True
