"""A stack is a running system of real processes, behind outage proxies, that is broken and mended piece by piece."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, Self
from urllib.parse import urlsplit, urlunsplit

from baton_messaging.broker.redis.transport import Channel as RedisChannel
from baton_messaging.models import (
    Attempt,
    Circuit,
    DeadLetter,
    Heartbeat,
    Interruption,
    OutboxMessage,
    Pause,
    ProcessedMessage,
)
from celery import current_app
from django.conf import settings
from django.db import connection
from django.db.models import Model

from baton_dev.blame import SUITE
from baton_dev.testing.outage_proxy import OutageProxy
from baton_dev.testing.processes import Process, collector_command, relay_command, wait_until

ROLES = ("relay", "collector", "beat", "web")  # all other processes are workers
EFFECT_SECONDS = 30  # until a fault must have taken effect
_EMPTIED: tuple[type[Model], ...] = (
    OutboxMessage,
    ProcessedMessage,
    Attempt,
    DeadLetter,
    Interruption,
    Pause,
    Circuit,
)


class Server(Protocol):
    """PostgreSQL, Valkey or RabbitMQ: what can be started, stopped, and held still."""

    @property
    def port(self) -> int: ...
    def start(self) -> str: ...
    def stop(self) -> None: ...


@dataclass(frozen=True)
class Part:
    """A process of the system. ``ready`` is what it prints when it is at work; ``beats``: it has a heartbeat."""

    command: list[str]
    ready: str = ""
    beats: bool = True


def celery_command(*words: str, module: list[str] | None = None) -> list[str]:
    """Return a command of the suite's Celery application; ``module``: run by another one than Celery's own."""
    usual = [sys.executable, "-m", "celery", "--skip-checks", "-A", settings.TEST_APPLICATION]
    return [*(module or usual), *words, "-l", "INFO"]


def worker_command(name: str, *queues: str, concurrency: int = 1, module: list[str] | None = None) -> list[str]:
    """Return the command of a worker."""
    options = ["-n", f"{name}@blame", "-Q", ",".join(queues), "-c", str(concurrency), "-O", "fair"]
    return [*celery_command("worker", module=module), "--without-mingle", "--without-gossip", *options]


def worker(name: str, *queues: str, concurrency: int = 1) -> Part:
    """Return a worker of the system."""
    return Part(worker_command(name, *queues, concurrency=concurrency), " ready.")


def usual_parts() -> dict[str, Part]:
    """Return what every system has."""
    return {
        "relay": Part(relay_command(), "relay_started"),
        "collector": Part(collector_command(), "collector_started"),
        "beat": Part([*celery_command("beat"), "--pidfile="], "beat: Starting"),
    }


class Stack:
    """The processes, by name. ``database`` and ``broker`` are the proxies that they all go through."""

    parts: ClassVar[Mapping[str, Part]]
    models: ClassVar[tuple[type[Model], ...]] = ()  # of the suite; emptied after each fault, with Baton's

    def __init__(self, folder: Path, *, database_url: str, broker_url: str, names: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.names = names or tuple(self.parts)
        self.is_rabbitmq = broker_url.startswith("amqp")
        self.processes: dict[str, Process] = {}
        self.database_server: Server | None = None
        self.broker_server: Server | None = None
        self.opened = ExitStack()
        self.database, self._database_url = self._behind_a_proxy(database_url)
        self.broker, self._broker_url = self._behind_a_proxy(broker_url)

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
        self.opened.close()

    # --- processes -----------------------------------------------------------------------------------------------

    def environment(self) -> dict[str, str]:
        """Return what every process of the system is given."""
        return {
            "DJANGO_SETTINGS_MODULE": f"{SUITE}.settings",
            "DATABASE_URL": self._database_url,
            "CELERY_BROKER_URL": self._broker_url,
            "BATON_STATE_DIR": str(self.folder),
        }

    def words_of_alive(self, name: str) -> tuple[str, str]:
        """Return what is asked of `alive`: the role, and the node name of a worker."""
        return (name, "") if name in ROLES else ("worker", f"{name}@blame")

    def launch(
        self, name: str, *, command: list[str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start without waiting. ``environment``: what this process alone is told otherwise."""
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        told = {**self.environment(), **(environment or {})}
        self.processes[name] = Process(command or self.parts[name].command, log=log, env=told)

    def start(
        self, name: str, *, command: list[str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.launch(name, command=command, environment=environment)
        self.processes[name].wait_for_output(self.parts[name].ready)

    def restart(self, name: str, **environment: str) -> None:
        """Start it anew with something else in its environment, and wait until it works."""
        self.stop(name)
        self.start(name, environment=environment)
        self.wait(lambda: self.lives(name), what=f"life in {name}")

    def stop(self, name: str) -> None:
        """Stop as a deploy does."""
        self.processes[name].stop()

    def kill(self, name: str) -> None:
        """Kill -9, children and all, and wait until the heartbeat is old."""
        self.processes[name].kill()
        self.wait(lambda: not self.lives(name), what=f"an old heartbeat of {name}")

    def kill_for_good(self, name: str) -> None:
        """Kill, and let no other take up what it had in flight: that would hold up the next fault."""
        self.kill(name)
        self._empty()

    def freeze(self, name: str) -> None:
        """Stop with SIGSTOP, children and all, and wait until the heartbeat is old."""
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
        return not self.parts[name].beats or self.lives(name)

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
            for model in (*_EMPTIED, *self.models):  # TRUNCATE would wait for a handler that still runs
                cursor.execute(f"DELETE FROM {model._meta.db_table}")

    def _behind_a_proxy(self, url: str) -> tuple[OutageProxy, str]:
        parts = urlsplit(url)
        assert parts.port
        proxy = OutageProxy(parts.port)
        self.opened.callback(proxy.end)
        login, _at, _place = parts.netloc.rpartition("@")
        netloc = f"{login}@127.0.0.1:{proxy.port}" if login else f"127.0.0.1:{proxy.port}"
        return proxy, urlunsplit(parts._replace(netloc=netloc))


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Stop a server with SIGSTOP for a while."""
    pid = server._process.pid  # type: ignore[attr-defined]
    os.killpg(os.getpgid(pid), signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(os.getpgid(pid), signal.SIGCONT)
