"""The check of the network resolves each host that the settings name, and looks at certificates.

A certificate that has ended, or is for another host, is the broker's trouble, or the database's; here the days that are
left are told while there are some. Those of mail are told by the check of mail, whose TLS begins in the middle of a
conversation.
"""

import socket
import ssl
from collections.abc import Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from celery import current_app
from django.conf import settings

from baton_messaging.database.deadline import Deadline
from baton_messaging.health import postgresql_tls
from baton_messaging.health.answers import answers_within
from baton_messaging.health.certificates import certificate_of
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.refusals import of_server
from baton_messaging.health.registry import health_check

_DATABASE: Final = "the database"
_TLS_PORTS: Final = {"rediss": 6379, "amqps": 5671}


@health_check("network")
def check_network(deadline: Deadline) -> Health:
    """Resolve all names, and shake hands where TLS is spoken from the start."""
    hosts = sorted(set(_hosts()))
    secured = sorted(set(_secured()))
    questions: dict[str, Any] = {host: partial(_addresses, host) for host in hosts}
    questions |= {f"{host}:{port}": partial(_certificate, host, port) for host, port in secured}
    questions |= {_DATABASE: postgresql_tls.certificate} if postgresql_tls.is_verified() else {}
    answers = answers_within(deadline.seconds_left, questions, key="network")
    # What is wrong with the database's certificate, the check of the database says.
    errors = {name: of_server(one.error) for name, one in answers.items() if one.error and name != _DATABASE}
    told = [f"{host}:{port}" for host, port in secured] + [name for name in answers if name == _DATABASE]
    facts = {
        "addresses": {host: answers[host].value for host in hosts if host not in errors},
        "certificates": {name: answers[name].value for name in told if name not in errors and answers[name].value},
    }
    said = "; ".join(f"{name}: {refusal.said}" for name, refusal in errors.items())
    condition = next((refusal.condition for refusal in errors.values()), Condition.OK)
    return Health("network", condition, said, facts=facts)


def _hosts() -> Iterator[str]:
    for database in settings.DATABASES.values():
        yield from (host for host in str(database.get("HOST") or "").split(",") if host and not host.startswith("/"))
    for url in _broker_urls():
        yield urlsplit(url).hostname or ""
    yield from (host for host in _mail_hosts() if host)


def _mail_hosts() -> Iterator[str]:
    mailers = getattr(settings, "MAILERS", None)
    if mailers:
        yield from (str(mailer.get("OPTIONS", {}).get("host", "")) for mailer in mailers.values())
    elif "smtp" in str(getattr(settings, "EMAIL_BACKEND", "")):
        yield str(settings.EMAIL_HOST)


def _broker_urls() -> Iterator[str]:
    app: Any = current_app
    for name in ("broker_read_url", "broker_write_url"):
        given = app.conf.get(name) or app.conf.broker_url or ""
        for url in given if isinstance(given, list | tuple) else str(given).split(";"):
            if urlsplit(url).hostname:
                yield url


def _secured() -> Iterator[tuple[str, int]]:
    for url in _broker_urls():
        parts = urlsplit(url)
        if parts.scheme in _TLS_PORTS and parts.hostname:
            yield parts.hostname, parts.port or _TLS_PORTS[parts.scheme]


def _addresses(host: str, _deadline: Deadline) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return sorted({str(address[4][0]) for address in found})


def _certificate(host: str, port: int, deadline: Deadline) -> dict[str, Any] | None:
    """Return what the certificate says; None where the project does not verify it, and so nothing is known of it."""
    given = current_app.conf.broker_use_ssl
    options = given if isinstance(given, dict) else {}
    context = ssl.create_default_context(cafile=options.get("ssl_ca_certs") or options.get("ca_certs"))
    if options.get("ssl_cert_reqs", options.get("cert_reqs")) == ssl.CERT_NONE:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    certificate = options.get("ssl_certfile") or options.get("certfile")
    if certificate:
        context.load_cert_chain(certificate, options.get("ssl_keyfile") or options.get("keyfile"))
    with (
        socket.create_connection((host, port), timeout=deadline.seconds_left) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        return certificate_of(secure)
