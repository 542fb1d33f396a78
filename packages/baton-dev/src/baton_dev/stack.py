"""Everything that runs on the developer's machine, as one object: services, supervisor, programs and the screen.

The programs see the environment that a deployment would give them. The order is: lock and checks, services, set-up,
programs; on the way down programs, then services.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, build_opener

from baton_dev.banner import banner, web_address
from baton_dev.console import Console
from baton_dev.drain import drain
from baton_dev.project import PROJECT_DIR, Environment
from baton_dev.readiness import not_at_work
from baton_dev.servers.ports import PortTakenError, is_taken
from baton_dev.servers.selection import (
    OWNER_COMMANDS,
    OWNER_VARIABLE,
    check_named_servers,
    embedded_services,
    owner_url,
    role_in,
    service_urls,
)
from baton_dev.servers.server_user import open_directory
from baton_dev.servers.service import ServiceError, try_lock
from baton_dev.supervisor.procfile import FLOWER, WEB, Program, read_procfile
from baton_dev.supervisor.supervisor import Supervisor, SupervisorError
from baton_dev.supervisor.tether import tethered

STACK_ERRORS = (PortTakenError, ServiceError, SupervisorError, ConnectionError)
SET_UP = (("migrate", "--no-input", "--verbosity", "0"), ("seed",))
GRANTS = "baton_grants"  # follows migrate where another role than the processes' owns the tables
ROUND_SECONDS = 0.1
SAID_SECONDS = 5.0  # between two words about what is waited for
REVIVE_SECONDS = 1.0  # between looks at what supervisord has given up
SERVICE_SECONDS = 60  # for a service to answer: PostgreSQL may have to replay its log after a crash
PROGRAMS_SECONDS = 120  # for all to be at work: they start at once and share the processor
ANSWER_SECONDS = 5
HURRY_AFTER_SECONDS = 1.0  # make passes on a signal that we got ourselves; a second Ctrl-C comes later than that


class Stack:
    """One run. As a context manager it starts supervisor and services, and drains everything at the end."""

    def __init__(
        self, env: Environment, *, procfile: Path = PROJECT_DIR / "Procfile", set_up: Iterable[tuple[str, ...]] = SET_UP
    ) -> None:
        self.exit_code = 0
        self._env = env
        self._programs = read_procfile(procfile)
        self._set_up = tuple(set_up)
        self._services = embedded_services(env)
        services = tuple(Program(service.name, tuple(service.command)) for service in self._services)
        drain_seconds = env.BATON_DRAIN_SECONDS
        self._supervisor = Supervisor(
            env.BATON_STATE_DIR, programs=self._programs, services=services, drain_seconds=drain_seconds
        )
        names = [*(command[0] for command in self._set_up), GRANTS, *(program.name for program in self._programs)]
        # Of the services one hears when they come and go; what they say is in their log files.
        self._console = Console(self._supervisor.log_dir, names, silent=[service.name for service in services])
        self._open = ExitStack()
        self._stop_asked_at: float | None = None
        self._hurry = False
        self._last_words = ""  # of the set-up: whether the admin user was created, and with which password
        self._revived_at = 0.0

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            opening.enter_context(_only_run_in(self._env.BATON_STATE_DIR))
            opening.callback(self._supervisor.close)
            opening.callback(self._console.close)
            self._refuse_taken_ports()
            check_named_servers(self._env)
            for service in self._services:
                service.choose_port()  # quick to refuse, so before the first data directory is made
            for service in self._services:
                service.prepare()
            self._supervisor.start(directory=PROJECT_DIR, environment=self._environment())
            opening.callback(self._drain)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def ask_to_stop(self, *, hurry: bool) -> None:
        """Stop as soon as the tasks have finished; asked again with `hurry`, at once. For signal handlers."""
        now = time.monotonic()
        if self._stop_asked_at is None:
            self._stop_asked_at = now
        elif hurry and now - self._stop_asked_at > HURRY_AFTER_SECONDS:
            self._hurry = True

    def set_up(self) -> bool:
        """Wait for the services, migrate, create what a new database needs, start the programs."""
        if not self._services_answer():
            return False
        self._console.say("Preparing the database: migrate, seed.")
        if not all(self._run_command(command) for command in self._commands()):
            return False
        self._supervisor.start_programs()
        self._show_until(self._is_up, seconds=PROGRAMS_SECONDS, waits_for=self._not_at_work)
        if not self._must_stop():
            late = self._not_at_work()
            processes = self._supervisor.processes()
            self._console.say(banner(self._env, self._programs, processes, admin=self._last_words, late=late))
        return True

    def watch(self) -> None:
        """Show what happens, until asked to stop."""
        self._show_until(lambda: False)
        if not self._supervisor.is_alive():
            self.exit_code = 1

    def _refuse_taken_ports(self) -> None:
        for name in (program.name for program in self._programs if program.name in (WEB, FLOWER)):
            variable = f"{name.upper()}_PORT"
            port, host = getattr(self._env, variable), getattr(self._env, f"{name.upper()}_HOST")
            if is_taken(port, host):
                raise PortTakenError(variable=variable, port=port)

    def _commands(self) -> Iterator[tuple[str, ...]]:
        """Return those of the set-up; after ``migrate`` the rights on new tables, if another role owns them."""
        role, owner = role_in(self._environment()["DATABASE_URL"]), owner_url(self._env, self._services)
        for command in self._set_up:
            yield command
            if command[0] == "migrate" and owner and role_in(owner) != role:
                yield (GRANTS, role, "--apply")

    def _environment_of(self, command: str) -> dict[str, str]:
        owner = owner_url(self._env, self._services) if command in OWNER_COMMANDS else None
        return {**self._environment(), **({"DATABASE_URL": owner} if owner else {})}

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        variables = {**os.environ, **service_urls(self._services), "PATH": path, "PYTHONUNBUFFERED": "1"}
        variables.setdefault("DATABASE_URL", self._env.DATABASE_URL)
        variables.pop(OWNER_VARIABLE, None)  # for the set-up only, and no process's business
        if os.geteuid() == 0:  # every worker would warn in six lines; on this machine root is who runs us
            variables.setdefault("PYTHONWARNINGS", "ignore:You're running the worker with superuser privileges")
        return variables

    def _services_answer(self) -> bool:
        for service in self._services:
            if not self._show_until(service.is_ready, seconds=SERVICE_SECONDS):
                if not self._must_stop():
                    self._fail(f"{service.name} does not answer; see {self._supervisor.log_dir / service.name}.log")
                return False
        return True

    def _is_up(self) -> bool:
        states = {process.state for process in self._supervisor.processes()}
        has_web = any(program.name == WEB for program in self._programs)
        if states != {"RUNNING"} or self._not_at_work():
            return False
        return not has_web or _answers(f"{web_address(self._env)}/healthz")  # last, for it leaves a line in the log

    def _not_at_work(self) -> list[str]:
        url = self._environment()["DATABASE_URL"]
        return not_at_work(self._programs, self._supervisor.processes(), database_url=url)

    def _run_command(self, command: tuple[str, ...]) -> bool:
        line, variables = tethered([sys.executable, "manage.py", *command]), self._environment_of(command[0])
        with TemporaryFile("w+") as output:  # not a log file, which would stay: one of the commands prints a password
            process = subprocess.Popen(
                line,
                cwd=PROJECT_DIR,
                env=variables,
                stdout=output,
                stderr=output,
                process_group=0,
            )
            if not self._show_until(lambda: process.poll() is not None):
                process.terminate()
            process.wait()
            output.seek(0)
            for self._last_words in output.read().splitlines():
                self._console.show(command[0], self._last_words)
        if process.returncode and not self._must_stop():
            self._fail(f"`manage.py {command[0]}` failed; what it wrote is above.", exit_code=process.returncode)
        return process.returncode == 0

    def _show_until(
        self,
        condition: Callable[[], bool],
        *,
        seconds: float = float("inf"),
        waits_for: Callable[[], Sequence[str]] | None = None,
    ) -> bool:
        """Keep screen and programs going until the condition holds (True), or time is up or we must stop (False).

        What it waits for is said now and then, so that nobody takes a slow machine for one that hangs.
        """
        deadline, said_at = time.monotonic() + seconds, time.monotonic()
        while not condition():
            if self._must_stop() or time.monotonic() > deadline:
                return False
            self._console.show_news()
            if waits_for and time.monotonic() - said_at > SAID_SECONDS:
                said_at = time.monotonic()
                self._console.say(f"Waiting for {', '.join(waits_for()) or 'the site'} to be at work.")
            if time.monotonic() - self._revived_at > REVIVE_SECONDS:
                self._supervisor.revive()
                self._revived_at = time.monotonic()
            time.sleep(ROUND_SECONDS)
        return True

    def _must_stop(self) -> bool:
        return self._stop_asked_at is not None or self._console.is_closed or not self._supervisor.is_alive()

    def _fail(self, text: str, *, exit_code: int = 1) -> None:
        self._console.say(text)
        self.exit_code = exit_code

    def _drain(self) -> None:
        drain(self._supervisor, self._console, seconds=self._env.BATON_DRAIN_SECONDS, hurry=lambda: self._hurry)


@contextmanager
def _only_run_in(state_dir: Path) -> Iterator[None]:
    open_directory(state_dir)
    with (state_dir / "run.lock").open("a+") as lock:
        if not try_lock(lock):
            lock.seek(0)
            raise ServiceError(
                f"Baton already runs here (process {lock.read()}). Stop it first, or set BATON_STATE_DIR to another "
                "directory, and WEB_PORT (with Flower also FLOWER_PORT) to another port."
            )
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


class _StayHere(HTTPRedirectHandler):
    """Follows no redirect: it would lead to a proxy that is not there."""

    def redirect_request(self, *_args: object) -> None:
        """Refuse, so that the redirect itself is the answer."""


def _answers(url: str) -> bool:
    try:
        build_opener(_StayHere).open(url, timeout=ANSWER_SECONDS).close()
    except HTTPError:
        return True  # also a redirect to https: somebody answers
    except (URLError, OSError):
        return False
    return True
