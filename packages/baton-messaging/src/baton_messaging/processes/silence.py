"""Silence of a process is explained by what its machine tells: stopped, out of descriptors, waiting for a disk.

Read of processes of this host only, as far as the system tells (Linux, /proc) and the rights go. A heartbeat gets old
by all of these; what mends them differs. *Source*. proc(5); Linux, documents "cgroup-v2" (freezer).
"""

import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Role
from baton_messaging.processes.wiring import process_id_of
from baton_messaging.routing.ownership import owner_of_queue

#: Of file descriptors, so few left that no connection can be opened.
MIN_DESCRIPTORS: Final = 1


@dataclass(frozen=True)
class Silence:
    """Why a process says nothing, and what mends it."""

    found: Text
    remedy: Text
    command: str
    is_healed_by_restart: bool = True


def is_there(row: Heartbeat) -> bool:
    """Tell whether its process runs on this machine, and is no other one that got its number."""
    if row.hostname != socket.gethostname():
        return False
    started = row.wiring.get("process", {}).get("id")
    return bool(started) and process_id_of(row.pid) == started


def is_gone(row: Heartbeat) -> bool:
    """Tell whether its process is known to run no more: it ran on this machine."""
    return row.hostname == socket.gethostname() and bool(row.wiring.get("process", {}).get("id")) and not is_there(row)


def silence_of(row: Heartbeat) -> Silence | None:
    """Return why a process of this machine says nothing, None if nothing is seen of it."""
    if not is_there(row):
        return None
    folder = Path(f"/proc/{row.pid}")
    return _stopped(folder, row.pid) or _starved(folder, row.pid) or _waiting(folder, row.pid)


def silent_processes(rows: list[Heartbeat]) -> list[Diagnosis]:
    """Return those that are there and cannot speak, each with its reason."""
    return [_diagnosis(row, silence) for row in rows if not row.is_fresh and (silence := silence_of(row)) is not None]


def _diagnosis(row: Heartbeat, silence: Silence) -> Diagnosis:
    return finding(
        Resource(Kind.PROCESS, row.name),
        row.name,
        found=format_lazy(
            _("{process} (pid {pid}) is silent: {why}"), process=row.name, pid=row.pid, why=silence.found
        ),
        wanted=_("a process that runs"),
        remedy=silence.remedy,
        owner=owner_of_queue(row.queues[0]) if row.role == Role.WORKER and row.queues else None,
        command=silence.command,
        since=row.beaten_at,
        stops_work=True,
    )


def _stopped(folder: Path, pid: int) -> Silence | None:
    if _state(folder) in ("T", "t"):
        remedy = _("Let it go on, and ask who has stopped it.")
        return Silence(_("it was stopped (SIGSTOP, or a debugger)"), remedy, f"kill -CONT {pid}")
    with suppress(OSError, IndexError):
        group = (folder / "cgroup").read_text().splitlines()[-1].rpartition("::")[2].strip("/")
        if "frozen 1" in (Path("/sys/fs/cgroup") / group / "cgroup.events").read_text():
            remedy = _("Let its container go on (docker unpause, or write 0 into cgroup.freeze).")
            return Silence(_("its control group is frozen"), remedy, f"echo 0 > /sys/fs/cgroup/{group}/cgroup.freeze")
    return None


def _starved(folder: Path, pid: int) -> Silence | None:
    with suppress(OSError, StopIteration, ValueError):
        lines = (folder / "limits").read_text().splitlines()
        limit = int(next(line for line in lines if line.startswith("Max open files")).split()[3])
        count = sum(1 for _entry in (folder / "fd").iterdir())
        if limit - count < MIN_DESCRIPTORS:
            found = format_lazy(
                _("it has {count} of {limit} file descriptors open (Too many open files)"), count=count, limit=limit
            )
            remedy = _("Raise its limit of open files, and find out what keeps so many open.")
            return Silence(found, remedy, f"prlimit --pid {pid} --nofile=65536; ls -l /proc/{pid}/fd")
    return None


def _waiting(folder: Path, pid: int) -> Silence | None:
    if _state(folder) == "D":
        return Silence(
            _("it waits for a disk or a file server (state D)"),
            _("Bring that disk or file server back: no signal ends such a process."),
            f"cat /proc/{pid}/stack; dmesg | tail",
            is_healed_by_restart=False,
        )
    return None


def _state(folder: Path) -> str:
    with suppress(OSError, IndexError):
        return (folder / "stat").read_text().rpartition(")")[2].split()[0]
    return ""
