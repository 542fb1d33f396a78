"""Remote control only reads: a client that can write to the broker can ask a worker, and can order it to do nothing.

Celery's commands need no login beyond the broker's. By them anyone there may stop workers, take queues from them, or
revoke messages. Here those that read are answered, and what Flower needs to look; any other is refused with an error,
and logged. ``BATON["REMOTE_CONTROL_COMMANDS"]`` allows more, by name: ``("revoke", "cancel_consumer")``.

``revoke`` is refused, too: a revoked message of a consumer is dead. Where it is allowed, ``terminate=True`` still needs
``"terminate"``.
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import structlog
from amqp.exceptions import ResourceLocked
from celery.worker.consumer.control import Control as CeleryControl
from celery.worker.control import inspect_command

from baton_messaging.conf import baton
from baton_messaging.processes.introduction import database_address

log = structlog.get_logger(__name__)

Command = Callable[..., Any]

READING: Final = frozenset(
    {
        "active",
        "active_queues",
        "baton_wiring",
        "clock",
        "conf",
        "dump_active",
        "dump_reserved",
        "dump_revoked",
        "dump_schedule",
        "dump_tasks",
        "hello",
        "ping",
        "query_task",
        "registered",
        "report",
        "reserved",
        "revoked",
        "scheduled",
        "stats",
        # What Flower needs. They change what a worker tells, not what it does.
        "disable_events",
        "enable_events",
        "heartbeat",
    }
)
RELISTEN_SECONDS: Final = 30
_REVOKING: Final = frozenset({"revoke", "revoke_by_stamped_headers"})


class AllowedCommands(Mapping[str, Command]):
    """Celery's register of commands, of which only some are executed."""

    def __init__(self, commands: Mapping[str, Command], allowed: frozenset[str]) -> None:
        self._commands = commands
        self._allowed = allowed

    def __getitem__(self, name: str) -> Command:
        command = self._commands[name]
        if name not in self._allowed:
            return _refusal_of(name)
        if name in _REVOKING and "terminate" not in self._allowed:
            return _without_terminate(name, command)
        if name == "hello" and "revoke" not in self._allowed:
            return _without_revoked(command)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


class Control(CeleryControl):
    """Celery's step that listens for commands."""

    def __init__(self, c: Any, **kwargs: Any) -> None:
        super().__init__(c, **kwargs)
        allowed = READING | frozenset(baton().remote_control_commands)
        self.box.node.handlers = AllowedCommands(self.box.node.handlers, allowed)
        self.start = self._listen
        self._has_complained = False

    def _listen(self, c: Any) -> None:
        """Listen; where RabbitMQ lets another worker of this name listen, work without, and try again.

        Celery would connect anew at once and for ever. The other one may as well be our own predecessor, whose
        connection RabbitMQ has not given up yet.
        """
        try:
            self.box.start(c)
        except ResourceLocked:
            self.box.stop(c)
            if not self._has_complained:
                log.warning("node_name_taken", name=c.hostname, remedy="start each worker with a name of its own: -n")
            self._has_complained = True
            c.timer.call_after(RELISTEN_SECONDS, self._listen_again, (c, c.connection))

    def _listen_again(self, c: Any, connection: Any) -> None:
        if c.connection is connection:  # another one has listened by itself
            self._listen(c)


@inspect_command()
def baton_wiring(state: Any, **_kwargs: Any) -> dict[str, Any]:
    """Return who this worker is, what it consumes, and what it is wired to."""
    consumer = state.consumer
    watch = getattr(consumer, "watch", None)
    return {
        "pid": os.getpid(),
        "uptime_seconds": watch.uptime_seconds if watch else None,
        "hostname": socket.gethostname(),
        "queues": sorted(consumer.app.amqp.queues.consume_from),
        "database": database_address(),
        "wiring": watch.wiring if watch else {},
    }


def _refusal_of(name: str) -> Command:
    def refuse(_state: Any, **_arguments: Any) -> dict[str, str]:
        log.warning("remote_control_refused", command=name)
        return {"error": f"{name}: refused, remote control only reads. BATON['REMOTE_CONTROL_COMMANDS'] allows more."}

    return refuse


def _without_terminate(name: str, command: Command) -> Command:
    def revoke(state: Any, *args: Any, terminate: bool = False, **arguments: Any) -> Any:
        if terminate:
            return _refusal_of(f"{name} with terminate")(state)
        return command(state, *args, **arguments)

    return revoke


def _without_revoked(command: Command) -> Command:
    def hello(state: Any, from_node: str, **_revoked: Any) -> Any:
        """Answer a worker that starts; what it says to have been revoked is not taken over."""
        return command(state, from_node)

    return hello
