"""PostgreSQL from a wheel, run in the state directory; as root by a user of its own (servers/server_user.py)."""

import os
import shutil
import signal
from pathlib import Path

from baton_dev.servers.ports import LOOPBACK
from baton_dev.servers.server_user import data_home, open_directory, program_home, run_as, server_user
from baton_dev.servers.service import Service, ServiceError, kept_password

CONNECT_TIMEOUT_SECONDS = 5
DATABASE = "baton"
SUPERUSER = "postgres"  # of the server's own making; has no password, so nobody can log in as it
APPLICATION_ROLE = "baton_app"
NOT_DURABLE = "--not-durable"


class Postgres(Service):
    """A PostgreSQL server with one database, `baton`, owned by the user of the same name: no superuser, but in tests.

    For the processes there is a role that owns nothing, and has only the rights that the owner grants.
    """

    name = "postgres"
    port_variable = "POSTGRES_PORT"
    stop_signal = signal.SIGINT  # "fast": ends connections; SIGTERM would wait for the last client to leave

    def __init__(self, state_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        """Take `durable=False` in tests: commits survive kill -9 as ever, but no power cut; the owner is a superuser.

        Hazard: data that an earlier release has made keeps an owner who is one.
        """
        super().__init__(state_dir, port=port)
        self._durable = durable
        self._user = server_user()

    @property
    def command(self) -> list[str]:
        """Return the command line that becomes the server."""
        return [*super().command, *([] if self._durable else [NOT_DURABLE])]

    @property
    def url(self) -> str:
        """Return the owner's URL with the password in it: keep it out of logs."""
        return f"postgres://{DATABASE}:{self._password()}@{LOOPBACK}:{self.port}/{DATABASE}"

    @property
    def application_url(self) -> str:
        """Return the URL of the role for the processes."""
        password = self._application_password_file.read_text()
        return f"postgres://{APPLICATION_ROLE}:{password}@{LOOPBACK}:{self.port}/{DATABASE}"

    def initialise(self) -> None:
        """Create the cluster where there is none.

        Without the state directory's password nobody can log in. Data elsewhere goes with it: whoever deleted the state
        directory meant all of it. Data right here was kept on purpose and gets a new password.
        """
        self._refuse_stranger()
        is_known = self._password_file.exists()
        if not is_known and self.state_dir not in self.data.parents:
            shutil.rmtree(self.data.parent, ignore_errors=True)
        if not (self.data / "PG_VERSION").exists():
            self._create()
        elif not is_known or not self._application_password_file.exists():
            self._execute(self.data, self._set_passwords())

    def _create(self) -> None:
        """Run initdb into a scratch directory and rename it, so that an interrupted run leaves no half-made cluster."""
        scratch = self.data.with_name("unfinished")
        shutil.rmtree(scratch, ignore_errors=True)
        self._make_home()
        options = ["--username", SUPERUSER, "--encoding", "UTF8", "--locale-provider", "builtin", "--auth", "trust"]
        self._as_server_user("initdb", "-D", scratch, *options, "--builtin-locale", "C.UTF-8", "--locale", "C")
        attributes = "" if self._durable else "SUPERUSER"
        # The bench fills tables without their triggers, which an owner could drop as well.
        setting = f"GRANT SET ON PARAMETER session_replication_role TO {DATABASE}\n"
        owner = f"CREATE ROLE {DATABASE} LOGIN {attributes}\n{setting}"
        self._execute(scratch, f"{owner}{self._set_passwords()}CREATE DATABASE {DATABASE} OWNER {DATABASE}\n")
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
        import psycopg  # noqa: PLC0415 - the process that becomes the server needs no client, and starts without

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

    def _refuse_stranger(self) -> None:
        """Raise if a server runs on the data although the lock is ours: the state directory was deleted under it."""
        try:
            pid = (self.data / "postmaster.pid").read_text().partition("\n")[0]
            command_line = Path(f"/proc/{int(pid)}/cmdline").read_text()
        except (OSError, ValueError):
            return
        if str(self.data) in command_line:
            raise ServiceError(f"postgres still runs on {self.data} (process {pid}). Stop it first.")

    @property
    def _password_file(self) -> Path:
        return self.state_dir / "postgres.password"

    @property
    def _application_password_file(self) -> Path:
        return self.state_dir / "postgres.application.password"

    def _password(self) -> str:
        return kept_password(self._password_file)

    def _set_passwords(self) -> str:
        """Return the statements. A password of 192 random bits is hashed once: nobody can guess it, however fast.

        4,096 times is for passwords that people think of, and costs each connection 5 ms of processor time. The
        processes' role reads others' statements, so that the doctor can say whose session holds a lock.
        """
        known = f"SELECT FROM pg_roles WHERE rolname = '{APPLICATION_ROLE}'"
        return (
            "SET scram_iterations = 1\n"
            f"ALTER USER {DATABASE} PASSWORD '{self._password()}'\n"
            f"DO $$BEGIN IF NOT EXISTS ({known}) THEN CREATE ROLE {APPLICATION_ROLE} LOGIN; END IF; END$$\n"
            f"ALTER USER {APPLICATION_ROLE} PASSWORD '{kept_password(self._application_password_file)}'\n"
            f"GRANT pg_read_all_stats TO {APPLICATION_ROLE}\n"
        )

    def _execute(self, data: Path, statements: str) -> None:
        """Execute SQL, a statement a line, without a server: so there never is one that asks for no password."""
        (data / "postmaster.pid").unlink(missing_ok=True)
        self._as_server_user("postgres", "--single", "-D", data, "postgres", stdin=statements)

    def _as_server_user(self, program: str, *arguments: str | Path, stdin: str = "") -> None:
        command = [program_home(self._user) / "bin" / program, *arguments]
        result = run_as(self._user, command, directory=self.data.parent, stdin=stdin)
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines() or ["it said nothing"]
            raise ServiceError(f"{program} failed: {lines[-1]}")
