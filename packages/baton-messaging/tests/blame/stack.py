"""A running system of real processes, behind gates, that can be broken and mended one piece at a time."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from baton_dev.servers.ports import free_port
from baton_dev.testing.outage_proxy import Gate
from baton_dev.testing.processes import Process, collector_command, relay_command, wait_until
from baton_dev.testing.smtp_server import SmtpServer, smtp_server
from baton_messaging.broker.redis.transport import Channel as RedisChannel
from baton_messaging.models import Heartbeat
from celery import current_app
from django.db import connection

_CELERY = [sys.executable, "-m", "celery", "--skip-checks", "-A", "config"]
_TABLES = (
    "baton_outbox",
    "baton_inbox",
    "baton_attempt",
    "baton_dead_letter",
    "baton_interruption",
    "baton_pause",
    "baton_circuit",
    "sample_effect",
)
EFFECT_SECONDS = 30  # until a fault must have taken effect


class Server(Protocol):
    """PostgreSQL, Valkey or RabbitMQ: what can be started, stopped, and held still."""

    @property
    def port(self) -> int: ...
    def start(self) -> str: ...
    def stop(self) -> None: ...


def worker_command(name: str, *queues: str, concurrency: int = 1, module: list[str] | None = None) -> list[str]:
    options = ["-n", f"{name}@blame", "-Q", ",".join(queues), "-c", str(concurrency), "-O", "fair"]
    return [*(module or _CELERY), "worker", "-l", "INFO", "--without-mingle", "--without-gossip", *options]


COMMANDS: dict[str, tuple[list[str], str]] = {
    "relay": (relay_command(), "relay_started"),
    "collector": (collector_command(), "collector_started"),
    "beat": ([*_CELERY, "beat", "-l", "INFO", "--pidfile="], "beat: Starting"),
    "sample": (worker_command("sample", "sample", concurrency=2), " ready."),
    "apps": (worker_command("apps", "orders", "inventory", "notifications", "baton", "blame"), " ready."),
    "bulk": (worker_command("bulk", "orders.bulk"), " ready."),
    "web": ([sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi"], ""),
}


class Stack:
    """The processes, by name. ``database`` and ``broker`` are the gates that they all go through."""

    def __init__(self, folder: Path, *, database_url: str, broker_url: str, names: tuple[str, ...]) -> None:
        self.folder = folder
        self.names = names
        self.is_rabbitmq = broker_url.startswith("amqp")
        self.web_port = free_port(seed=f"{folder}/web")
        self.processes: dict[str, Process] = {}
        self.database_server: Server | None = None
        self.broker_server: Server | None = None
        self._open = ExitStack()
        self.database, self._database_url = self._behind_a_gate(database_url)
        self.broker, self._broker_url = self._behind_a_gate(broker_url)
        self.mail: SmtpServer = self._open.enter_context(smtp_server())

    def __enter__(self) -> Self:
        try:
            for name in self.names:
                self.launch(name)
            self.mend()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.kill()
        self._open.close()

    # --- processes -----------------------------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """Return what every process of the system is given."""
        return {
            "DJANGO_SETTINGS_MODULE": "tests.blame.settings",
            "DATABASE_URL": self._database_url,
            "CELERY_BROKER_URL": self._broker_url,
            "EMAIL_URL": f"smtp://127.0.0.1:{self.mail.port}?timeout=20",
            "BATON_STATE_DIR": str(self.folder),
            "WEB_PORT": str(self.web_port),
            "WEB_PROCESSES": "1",
        }

    def launch(self, name: str, *, command: list[str] | None = None) -> None:
        """Start without waiting."""
        usual, _ready = COMMANDS[name]
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        self.processes[name] = Process(command or usual, log=log, env=self.environment())

    def start(self, name: str, *, command: list[str] | None = None) -> None:
        self.launch(name, command=command)
        self.processes[name].wait_for_output(COMMANDS[name][1])

    def stop(self, name: str) -> None:
        """Stop as a deploy does."""
        self.processes[name].stop()

    def kill(self, name: str) -> None:
        """Kill -9, children and all, and wait until the sign of life is old."""
        self.processes[name].kill()
        self.wait(lambda: not self.lives(name), what=f"an old heartbeat of {name}")

    def kill_for_good(self, name: str) -> None:
        """Kill, and let nobody take up what it had in hand: that would hold up the next fault."""
        self.kill(name)
        self._empty()

    def freeze(self, name: str) -> None:
        """Stop with SIGSTOP, children and all, and wait until the sign of life is old."""
        os.killpg(self.processes[name].pid, signal.SIGSTOP)
        self.wait(lambda: not self.lives(name), what=f"an old heartbeat of {name}")

    def lives(self, name: str) -> bool:
        row = Heartbeat.objects.filter(pid=self.processes[name].pid).first()
        return row is not None and row.is_fresh and row.is_consuming

    def wait(self, condition: Callable[[], object], *, what: str, seconds: float = EFFECT_SECONDS) -> None:
        wait_until(condition, seconds=seconds, what=what)

    # --- healing -------------------------------------------------------------------------------------------------

    def mend(self) -> None:
        """Bring everything back to life, and forget what the last fault left."""
        self.broker.open()
        self.database.open()
        self.mail.replies.clear()
        self.mail.unknown_recipients.clear()
        for name in self.names:
            self._revive(name)
        self.wait(lambda: all(self._is_up(name) for name in self.names), what=f"life in {self._dead()}", seconds=60)
        self._empty()

    def _revive(self, name: str) -> None:
        process = self.processes[name]
        if process.exit_code is not None:
            self.launch(name)
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGCONT)

    def _is_up(self, name: str) -> bool:
        if self.processes[name].exit_code is not None:
            self.launch(name)  # it may have died of the fault, as a supervisor sees it
        return name == "web" or self.lives(name)

    def _dead(self) -> list[str]:
        return [name for name in self.names if not self._is_up(name)]

    def _empty(self) -> None:
        Heartbeat.objects.exclude(pid__in=[process.pid for process in self.processes.values()]).delete()
        with current_app.connection_for_write() as broker:
            channel = broker.default_channel
            for queue in current_app.amqp.queues.values():
                with broker.channel() as own:
                    bound = queue.bind(own)
                    bound.declare()
                    bound.purge()
            if isinstance(channel, RedisChannel):
                channel.client.delete(channel.unacked_key, channel.unacked_index_key)
        with connection.cursor() as cursor:
            for table in _TABLES:  # TRUNCATE would wait for a handler that still runs
                cursor.execute(f"DELETE FROM {table}")

    def _behind_a_gate(self, url: str) -> tuple[Gate, str]:
        parts = urlsplit(url)
        assert parts.port
        gate = Gate(parts.port)
        self._open.callback(gate.end)
        login, _at, _place = parts.netloc.rpartition("@")
        netloc = f"{login}@127.0.0.1:{gate.port}" if login else f"127.0.0.1:{gate.port}"
        return gate, urlunsplit(parts._replace(netloc=netloc))


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Stop a server with SIGSTOP for a while."""
    pid = server._process.pid  # type: ignore[attr-defined]
    os.killpg(os.getpgid(pid), signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(os.getpgid(pid), signal.SIGCONT)


def environment_of(stack: Stack) -> dict[str, str]:
    """Return the environment of who asks."""
    return {**os.environ, **stack.environment()}
