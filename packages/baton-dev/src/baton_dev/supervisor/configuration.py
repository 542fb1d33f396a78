"""Supervisord's configuration has two groups: the programs stop first and together, the services last.

Supervisord starts a program again at once when it had been up for SETTLED_SECONDS; when it dies younger, after 1, 2,
3 … seconds, QUICK_RETRIES times. Then it gives up, and supervisor/supervisor.py takes over.
"""

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from baton_dev.supervisor.procfile import Program
from baton_dev.supervisor.tether import tethered

PROGRAMS, SERVICES = "programs", "services"
SETTLED_SECONDS = 3  # longer than a program takes to find out that it cannot start
QUICK_RETRIES = 5  # restarts (count) with a growing pause, together 15 seconds
LOG_BYTES = 5_000_000  # a log file is renamed to .1 at this size; the one before it is deleted


def configuration(groups: Mapping[str, Iterable[Program]], *, log_dir: Path, socket: Path, stop_seconds: int) -> str:
    """Return the text of the file. `stop_seconds` is what a program gets from SIGTERM to SIGKILL."""
    lines = [
        "[supervisord]",
        f"logfile={_quoted(log_dir / 'supervisord.log')}",
        f"logfile_maxbytes={LOG_BYTES}",
        "logfile_backups=1",
        "loglevel=info",
        f"pidfile={_quoted(log_dir.parent / 'supervisord.pid')}",
        *(["user=root"] if os.geteuid() == 0 else []),  # without it supervisord warns about root
        "[unix_http_server]",
        f"file={_quoted(socket)}",
        "chmod=0600",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface",
    ]
    for priority, group in enumerate((SERVICES, PROGRAMS), start=1):
        members = tuple(groups.get(group, ()))
        if members:
            lines += [f"[group:{group}]", f"priority={priority}", f"programs={','.join(p.name for p in members)}"]
            lines += [line for p in members for line in _program(p, log_dir, group == SERVICES, stop_seconds)]
    return "\n".join(lines)


def _program(program: Program, log_dir: Path, is_service: bool, stop_seconds: int) -> list[str]:
    # A service ties itself, by its own signal, once it has changed its user: that would undo an earlier tie.
    command = program.command if is_service else tethered(program.command)
    return [
        f"[program:{program.name}]",
        f"command={_quoted(shlex.join(command))}",
        f"autostart={str(is_service).lower()}",
        "autorestart=true",
        f"startsecs={SETTLED_SECONDS}",
        f"startretries={QUICK_RETRIES}",
        f"stopsignal={'INT' if is_service else 'TERM'}",
        f"stopwaitsecs={stop_seconds}",
        "killasgroup=true",
        "redirect_stderr=true",
        f"stdout_logfile={_quoted(log_dir / f'{program.name}.log')}",
        f"stdout_logfile_maxbytes={LOG_BYTES}",
        "stdout_logfile_backups=1",
    ]


def _quoted(value: object) -> str:
    return str(value).replace("%", "%%")
