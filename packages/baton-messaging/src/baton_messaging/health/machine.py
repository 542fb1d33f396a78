"""The check of the machine asks what a process has left of it: disk, memory, file descriptors, processor, time.

A file is written for real, into the temporary folder: a full, read-only or forbidden disk says so. For how long the
machine has been suspended is the difference of two clocks, of which one goes on. A process finds its own standstills
(``processes/standstill.py``), and the check of the database compares the clocks.

Linux tells all of it; another system what Python knows of it.
"""

import os
import resource
import shutil
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.refusals import classify
from baton_messaging.health.registry import health_check

#: What must be left for work to go on.
MIN_FREE_BYTES: Final = 50 * 1024**2
MIN_FREE_INODES: Final = 100
MIN_MEMORY_SHARE: Final = 0.02
MIN_DESCRIPTORS: Final = 16
_KIB: Final = 1024


@health_check("machine")
def check_machine(_deadline: Deadline) -> Health:
    """Write a file; say what is left."""
    facts = {
        "hostname": socket.gethostname(),
        "disks": _disks(),
        "memory": _memory(),
        "descriptors": _descriptors(),
        "processors": os.cpu_count(),
        "load": _load(),
        "pressure": _pressure(),
        "suspended_seconds": _suspended_seconds(),
    }
    refused = _refused_write()
    lacks = _lacks(facts)
    if refused is not None:
        return Health("machine", refused[0], refused[1], facts=facts)
    return Health("machine", Condition.FULL if lacks else Condition.OK, "; ".join(lacks), facts=facts)


def _refused_write() -> tuple[Condition, str] | None:
    try:
        with tempfile.TemporaryFile() as file:
            file.write(os.urandom(4 * _KIB))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        refusal = classify(error)
        return refusal.condition, f"{tempfile.gettempdir()}: {refusal.said}"
    return None


def _lacks(facts: dict[str, Any]) -> list[str]:
    lacks = [
        f"{disk['path']}: {disk['free_bytes'] // 1024**2} MB and {disk['free_inodes']} files left"
        for disk in facts["disks"]
        if disk["free_bytes"] < MIN_FREE_BYTES or disk["free_inodes"] < MIN_FREE_INODES
    ]
    memory, descriptors = facts["memory"], facts["descriptors"]
    if memory and memory["available_bytes"] < memory["limit_bytes"] * MIN_MEMORY_SHARE:
        lacks.append(f"memory: {memory['available_bytes'] // 1024**2} MB of {memory['limit_bytes'] // 1024**2} MB left")
    if descriptors and descriptors["limit"] - descriptors["open"] < MIN_DESCRIPTORS:
        lacks.append(f"file descriptors: {descriptors['open']} of {descriptors['limit']} open")
    return lacks


def _disks() -> list[dict[str, Any]]:
    """Return what is left where files of the project are, each file system once."""
    found: dict[int, dict[str, Any]] = {}
    for path in _paths():
        with suppress(OSError):
            device = path.stat().st_dev
            if device not in found:
                usage, files = shutil.disk_usage(path), os.statvfs(path)
                left = files.f_favail if files.f_files else MIN_FREE_INODES  # some file systems count none
                found[device] = {
                    "path": str(path), "free_bytes": usage.free, "total_bytes": usage.total, "free_inodes": left,
                }  # fmt: skip
    return list(found.values())


def _paths() -> list[Path]:
    named = [tempfile.gettempdir(), os.environ.get("BATON_STATE_DIR", ""), str(getattr(settings, "MEDIA_ROOT", ""))]
    for alias in settings.STORAGES:
        with suppress(Exception):  # one whose library is not installed is not on a disk here
            storage = storages[alias]
            named += [str(storage.location)] if isinstance(storage, FileSystemStorage) else []
    return [Path(name) for name in dict.fromkeys((*named, str(Path.cwd()))) if name]


def _memory() -> dict[str, int]:
    """Return the smaller of what the machine and the control group leave."""
    with suppress(OSError, ValueError, KeyError):
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        total, available = (int(lines[name].split()[0]) * _KIB for name in ("MemTotal", "MemAvailable"))
        limit, used = _group_memory()
        if limit and limit < total:
            total, available = limit, min(available, max(0, limit - used))
        return {"limit_bytes": total, "available_bytes": available}
    return {}


def _group_memory() -> tuple[int, int]:
    """Return the limit of the control group and what is used of it, without files that can be forgotten."""
    for limit, used, forgettable in _GROUPS:
        with suppress(OSError, ValueError, KeyError):
            stat = dict(line.split() for line in (Path(used).parent / "memory.stat").read_text().splitlines())
            return int(Path(limit).read_text()), max(0, int(Path(used).read_text()) - int(stat[forgettable]))
    return 0, 0


_GROUP: Final = "/sys/fs/cgroup"
_GROUPS: Final = (
    (f"{_GROUP}/memory.max", f"{_GROUP}/memory.current", "inactive_file"),  # "max" is no number: no limit
    (f"{_GROUP}/memory/memory.limit_in_bytes", f"{_GROUP}/memory/memory.usage_in_bytes", "total_inactive_file"),
)


def _descriptors() -> dict[str, int]:
    with suppress(OSError):
        soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        return {"open": len(os.listdir("/proc/self/fd")), "limit": soft}  # noqa: PTH208 - of their names only the number
    return {}


def _load() -> list[float]:
    with suppress(OSError):
        return [round(load, 2) for load in os.getloadavg()]
    return []


def _pressure() -> dict[str, float]:
    """Return the share of the last ten seconds in which some task waited for it, in percent."""
    found = {}
    for name in ("cpu", "memory", "io"):
        with suppress(OSError, IndexError, ValueError):
            found[name] = float(Path(f"/proc/pressure/{name}").read_text().split("avg10=")[1].split()[0])
    return found


def _suspended_seconds() -> float:
    """Return how long the machine has been suspended since it was started."""
    boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux' own
    return round(time.clock_gettime(boot) - time.clock_gettime(time.CLOCK_MONOTONIC), 1)
