"""The certificate of PostgreSQL, as far as our settings have it verified: libpq tells neither its end nor its fault.

PostgreSQL begins TLS in the middle of a conversation: the client asks for it, the server says yes or no.

*Source*: PostgreSQL manual, "Message Formats" (SSLRequest) and "SSL Support" (sslmode, sslrootcert, sslcert).
"""

import socket
import ssl
import struct
from pathlib import Path
from typing import Any, Final

from django.db import connection

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.certificates import certificate_of

_SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
_ROOT: Final = "~/.postgresql/root.crt"


def is_verified() -> bool:
    """Tell whether libpq would look at the certificate: only then does its end stop anything."""
    options = connection.settings_dict["OPTIONS"]
    mode = str(options.get("sslmode", ""))
    return _is_on_the_network() and (
        mode.startswith("verify-") or (mode == "require" and bool(options.get("sslrootcert")))
    )


def certificate(deadline: Deadline) -> dict[str, Any] | None:
    """Shake hands as libpq does, and return what the certificate says. Raises what is wrong with it."""
    settings = connection.settings_dict
    with socket.create_connection(
        (settings["HOST"], int(settings["PORT"] or 5432)), timeout=deadline.seconds_left
    ) as plain:
        plain.sendall(_SSL_REQUEST)
        if plain.recv(1) != b"S":
            raise ConnectionError("server does not support SSL")
        with _context(settings["OPTIONS"]).wrap_socket(plain, server_hostname=settings["HOST"]) as secure:
            return certificate_of(secure)


def _is_on_the_network() -> bool:
    host = str(connection.settings_dict["HOST"] or "")
    return bool(host) and not host.startswith("/") and "," not in host


def _context(options: dict[str, Any]) -> ssl.SSLContext:
    root = options.get("sslrootcert") or str(Path(_ROOT).expanduser())
    context = ssl.create_default_context(cafile=None if root == "system" else root)
    context.check_hostname = options.get("sslmode") == "verify-full"
    if options.get("sslcert"):
        context.load_cert_chain(options["sslcert"], options.get("sslkey"))
    return context
