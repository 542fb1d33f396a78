"""Transports of the project take the place of kombu's.

In kombu's table of aliases, and not as ``broker_transport``, because that setting is forgotten when a connection fails
over to the next URL, and keeps ``rediss://`` from being recognised as TLS. A URL stays as users write it. Whatever
loads the Celery application (worker, beat, relay, Flower, the ``celery`` command, child processes that are spawned
rather than forked) imports the module that calls ``install(app)`` and thereby comes by here.
"""

from contextlib import suppress
from urllib.parse import urlsplit

from kombu import transport

ALIASES = {
    "redis": "baton_messaging.broker.redis.transport:Transport",
    "rediss": "baton_messaging.broker.redis.transport:Transport",
    "sentinel": "baton_messaging.broker.redis.transport:SentinelTransport",
    "amqp": "baton_messaging.broker.rabbitmq.transport:Transport",
    "amqps": "baton_messaging.broker.rabbitmq.transport:SSLTransport",
    "pyamqp": "baton_messaging.broker.rabbitmq.transport:Transport",
}


def install() -> None:
    """Make every connection of this process use the project's transports. Repeating it is harmless."""
    transport.TRANSPORT_ALIASES.update(ALIASES)
    for alias in ALIASES:
        transport._transport_cache.pop(alias, None)  # a connection may have been made before


def preload(url: str) -> None:
    """Import what a connection to this broker needs, together with the rest of a command and not in the middle of it.

    manage.py looks for no garbage until a command runs; an import after that costs triage a twentieth of its time.
    What is missing is told by the connection.
    """
    with suppress(ImportError, KeyError):
        transport.get_transport_cls(urlsplit(url).scheme)
