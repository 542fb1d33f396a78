"""Writing of the planned files: all of them can be written, or none is; each is there whole, or as it was.

Invariant: a file is renamed into its place, so a reader and a kill see the old text or the new one. A kill between two
files leaves a project that starts (steps.py), and that a second run completes.
"""

import os
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from baton_messaging.adoption.source import Source


class Unwritable(Exception):
    """Say in one sentence which file cannot be written."""


def refuse_unwritable(sources: Sequence[Source]) -> None:
    """Look whether every file can be written. Raises Unwritable.

    A file without any permission to write is meant to stay as it is, though a rename would get by that, as root would.
    """
    for source in sources:
        path = source.path.resolve()
        if not path.exists():
            path = path.parent
        is_marked = not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
        if is_marked or not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
            raise Unwritable(f"{path} is read-only.")
        try:
            _ = source.result_bytes
        except UnicodeEncodeError as error:
            raise Unwritable(f"{path}: what belongs there cannot be written in {source.encoding}.") from error


def write(sources: Sequence[Source]) -> None:
    """Write, in the order given. Raises Unwritable: then the files before that one are written, and it is not."""
    for source in sources:
        path = source.path.resolve()  # a link stays one
        try:
            if not source.is_new and path.read_bytes() != source.text.encode(source.encoding):
                raise Unwritable(f"{path} was changed meanwhile. Run the command again.")
            _replace(path, source.result_bytes)
        except OSError as error:
            raise Unwritable(
                f"{path}: {error.strerror}. Run the command again, it completes what is missing."
            ) from error


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            found = path.stat()
            scratch.chmod(stat.S_IMODE(found.st_mode))
            with suppress(PermissionError):
                os.chown(scratch, found.st_uid, found.st_gid)
        else:
            umask = os.umask(0)
            os.umask(umask)
            scratch.chmod(0o666 & ~umask)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def way_back(root: Path, sources: Sequence[Source]) -> str:
    """Say how these changes can be undone: by git, or by nothing."""
    names = [str(source.path) for source in sources if not source.is_new]
    command = ["git", "-C", str(root), "status", "--porcelain", "--", *names]
    try:
        status = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - names of files
    except OSError:
        return "There is no git here: keep a copy of these files, for there is no other way back."
    if status.returncode:
        return "This is no git repository: keep a copy of these files, for there is no other way back."
    changed = sorted(line[3:] for line in status.stdout.splitlines())
    if changed:
        return f"Not committed yet: {', '.join(changed)}. Commit first, and `git diff` shows these changes alone."
    return ""
