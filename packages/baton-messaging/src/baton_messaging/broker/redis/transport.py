"""kombu's Redis transport, taught to behave as a RabbitMQ quorum queue does.

What it adds: dead-lettering, a delivery limit and leases (qos.py, lease.py), deliveries that cannot be lost on their
way to a worker (dequeue.py), and routing that survives an emptied server (routing.py). ``install()`` puts it in place
of kombu's for the URLs that users write. Pinned to kombu's minor version; the contract tests guard the upgrade.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from typing import Any

from kombu.transport import redis as kombu_redis
from redis.exceptions import ResponseError

from baton_messaging.broker.client_name import client_name
from baton_messaging.broker.options import check
from baton_messaging.broker.redis.lease import LeasePoller
from baton_messaging.broker.redis.qos import QoS
from baton_messaging.broker.redis.reading import ReadableChannel
from baton_messaging.broker.redis.routing import RoutingChannel

OPTIONS = ("dead_letter_queue", "delivery_limit", "exchange", "max_raw_bytes", "queues")


class Channel(ReadableChannel, RoutingChannel):
    """A channel with the guarantees of a quorum queue. Its options are those of options.py."""

    QoS = QoS
    from_transport_options = (*kombu_redis.Channel.from_transport_options, *OPTIONS)

    delivery_limit: int | None = 3
    visibility_timeout: float = 30
    unacked_restore_throttle = 1
    _commands: Any = None
    _pool: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """Lend a client for one command. kombu makes one each time, which costs more than the command."""
        if client is None:
            if self._commands is None or self._commands.connection_pool is not self.pool:
                self._commands = self._create_client()
            client = self._commands
        yield client

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        """Let a connection be found by the name of its process, unless the project names its connections itself."""
        parameters: dict[str, Any] = super()._connparams(asynchronous=asynchronous)
        if not parameters.get("client_name") and client_name():
            parameters["redis_connect_func"] = _connect_with_name
        return parameters

    def close(self) -> None:
        """Close; what was given back on the way out went over a new connection, which is closed, too."""
        super().close()
        if self._pool is not None:
            self._pool.disconnect()

    def _disconnect_pools(self) -> None:
        """Disconnect, and keep the pool: a task that outlives its connection still acknowledges over a new one.

        Without it, such an ack ends the worker (``'NoneType' object has no attribute 'hostname'``).
        """
        pool = self._pool
        super()._disconnect_pools()
        self._pool = pool


def _connect_with_name(connection: Any) -> None:
    """Log in, then tell the name: a user who may not (ACL) works without one."""
    connection.on_connect()
    connection.send_command("CLIENT", "SETNAME", client_name())
    with suppress(ResponseError):
        connection.read_response()


class Transport(kombu_redis.Transport):
    """``redis://`` and ``rediss://``."""

    Channel = Channel
    #: What the server has answered to the last dequeue, if it was no message and not that there is none.
    refusal: Exception | None = None
    #: What it has answered instead of the broadcasts of remote control.
    remote_control_refusal: Exception | None = None

    def __init__(self, client: Any, **kwargs: Any) -> None:
        check(client.transport_options)
        super().__init__(client, **kwargs)
        self.cycle = LeasePoller()
        options = client.transport_options
        self.cycle.lease_renewal_seconds = options.get("lease_renewal_seconds", LeasePoller.lease_renewal_seconds)
        self.cycle.unacked_restore_interval = options.get(
            "unacked_restore_interval", LeasePoller.unacked_restore_interval
        )

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Let the worker's event loop renew the leases, and carry acks along with dequeues."""
        super().register_with_event_loop(connection, loop)
        self.cycle.loop_thread = get_ident()
        timer = getattr(self.cycle, "_renewal_timer", None)
        if timer is not None:
            timer.cancel()
        self.cycle._renewal_timer = loop.call_repeatedly(self.cycle.lease_renewal_seconds, self.cycle.renew_leases)


class SentinelChannel(Channel, kombu_redis.SentinelChannel):
    """The same behind Redis Sentinel."""

    from_transport_options = (*kombu_redis.SentinelChannel.from_transport_options, *OPTIONS)


class SentinelTransport(Transport, kombu_redis.SentinelTransport):
    """``sentinel://``."""

    Channel = SentinelChannel
    default_port = kombu_redis.SentinelTransport.default_port
