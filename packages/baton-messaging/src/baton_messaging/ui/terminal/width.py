"""How much fits on a line: for tables that are cut or folded on a screen, and whole in a pipe or a file."""

import shutil
from typing import Final

from django.core.management.base import OutputWrapper

USUAL_SIZE: Final = (120, 24)  # columns and lines, for a terminal that does not tell


def width_of(out: OutputWrapper) -> int | None:
    """Return the columns of the terminal that a command prints to, None where it prints elsewhere."""
    return shutil.get_terminal_size(USUAL_SIZE).columns if out.isatty() else None
