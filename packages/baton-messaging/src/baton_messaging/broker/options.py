"""The broker's settings follow from its URL: transport options, TLS and URL as Celery wants them.

    settings = broker_settings("sentinel://one:26379;sentinel://two:26379/0?master_name=baton", exchange="tasks", …)

Hazard: Celery prefers the environment's CELERY_BROKER_URL to its setting ``broker_url``. The URL from here is not
always that one, so it goes into ``broker_read_url`` and ``broker_write_url``, to which Celery prefers nothing.

Both brokers get what makes them keep the same promises. For RabbitMQ that is publisher confirms, the rest stands in the
declaration of the queues (routing/queues.py); for Redis it is what broker/redis needs.
"""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

#: Seconds without a renewal after which a delivery goes back to its queue.
VISIBILITY_TIMEOUT: Final = 30
#: A worker may miss this many renewals in a row before anybody else runs its messages.
RENEWALS_PER_LEASE: Final = 3
AMQP_SCHEMES: Final = ("amqp", "amqps", "pyamqp")


@dataclass(frozen=True)
class BrokerSettings:
    """What Celery is told of the broker."""

    url: str
    transport_options: dict[str, Any]
    use_ssl: dict[str, Any] | None


class BadTransportOptions(ValueError):
    """Say which options do not go together."""


def broker_settings(
    broker_url: str, *, exchange: str, queues: Sequence[str], dead_letter_queue: str, delivery_limit: int
) -> BrokerSettings:
    """Return the settings for a broker.

    Certificates are checked for ``amqps://`` and ``rediss://`` unless the URL says otherwise (``?ssl_cert_reqs=none``),
    which kombu by itself would not do. ``sentinel://`` URLs name the master: ``?master_name=…``.
    """
    scheme = urlsplit(broker_url).scheme
    if scheme in AMQP_SCHEMES:
        verified = {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": None}  # None: the URL's
        return BrokerSettings(broker_url, {"confirm_publish": True}, verified if scheme == "amqps" else None)
    url, master_name = _without_master_name(broker_url)
    options = redis_options(
        exchange=exchange, queues=queues, dead_letter_queue=dead_letter_queue, delivery_limit=delivery_limit
    )
    if master_name:
        options["master_name"] = master_name
    return BrokerSettings(url, options, {"ssl_cert_reqs": ssl.CERT_REQUIRED} if scheme == "rediss" else None)


def redis_options(
    *,
    exchange: str,
    queues: Sequence[str],
    dead_letter_queue: str,
    delivery_limit: int,
    visibility_timeout: float = VISIBILITY_TIMEOUT,
) -> dict[str, Any]:
    """Return the transport options for Redis. Units: seconds.

    A killed worker's messages run elsewhere after ``visibility_timeout`` and one round of
    ``unacked_restore_interval``: 35 s at most.
    """
    return {
        "exchange": exchange,
        "queues": tuple(queues),
        "dead_letter_queue": dead_letter_queue,
        "delivery_limit": delivery_limit,
        "visibility_timeout": visibility_timeout,
        "lease_renewal_seconds": visibility_timeout / (2 * RENEWALS_PER_LEASE),
        "unacked_restore_interval": visibility_timeout / (2 * RENEWALS_PER_LEASE),
        "unacked_restore_throttle": 1,
        # A server that disappears without a word (failover, firewall) must not hold a worker for ever. Shorter than
        # the lease: a renewal that waits for a dead connection still leaves time for another.
        "socket_timeout": visibility_timeout / 3,
        "socket_connect_timeout": min(5.0, visibility_timeout / 3),
        "socket_keepalive": True,
    }


def check(options: Mapping[str, Any]) -> None:
    """Refuse transport options for Redis that would run tasks twice. Raises BadTransportOptions."""
    visibility_timeout = float(options.get("visibility_timeout", VISIBILITY_TIMEOUT))
    renewal = float(options.get("lease_renewal_seconds", VISIBILITY_TIMEOUT / (2 * RENEWALS_PER_LEASE)))
    if not 0 < renewal * RENEWALS_PER_LEASE <= visibility_timeout:
        raise BadTransportOptions(
            f"Expected lease_renewal_seconds between 0 and visibility_timeout / {RENEWALS_PER_LEASE} "
            f"({visibility_timeout / RENEWALS_PER_LEASE:g}), got {renewal:g}: running tasks would run twice. "
            "Change broker_transport_options."
        )


def _without_master_name(broker_url: str) -> tuple[str, str | None]:
    """Take ``master_name`` out of the URL: kombu knows it as an option only."""
    master_name, urls = None, []
    if not broker_url.startswith("sentinel://"):
        return broker_url, None
    for url in broker_url.split(";"):
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        master_name = query.pop("master_name", master_name)
        urls.append(urlunsplit(parts._replace(query=urlencode(query))))
    return ";".join(urls), master_name
