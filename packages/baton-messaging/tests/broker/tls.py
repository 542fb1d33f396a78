"""TLS in front of a server that has none: the Valkey of the wheel is built without."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from baton_dev.servers.ports import LOOPBACK

#: ``openssl ca`` alone signs for days that are over.
AUTHORITY = """
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = IP:{address}
"""


def certificate_for(directory: Path, *, days: int = 1, address: str = LOOPBACK) -> tuple[Path, Path]:
    """Make a certificate that ends in so many days, or has ended; return it and its key."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    (directory / "ca.cnf").write_text(AUTHORITY.format(address=address))
    (directory / "index.txt").touch()
    new = ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={address}", "-keyout", str(key)]
    sign = ["ca", "-batch", "-selfsign", "-config", "ca.cnf", "-keyfile", str(key), "-in", "request.pem", "-notext"]
    dates = [(datetime.now(UTC) + timedelta(days=day)).strftime("%Y%m%d%H%M%SZ") for day in (-100, days)]
    for command in (
        [*new, "-out", "request.pem"],
        [*sign, "-startdate", dates[0], "-enddate", dates[1], "-out", str(certificate)],
    ):
        subprocess.run(["openssl", *command], cwd=directory, check=True, capture_output=True)
    return certificate, key


@contextmanager
def tls_in_front_of(
    port: int, directory: Path, *, days: int = 1, address: str = LOOPBACK, is_postgresql: bool = False
) -> Iterator[tuple[int, Path]]:
    """Serve a port with TLS for as long as the block runs; return the new port and the certificate.

    With negative ``days`` the certificate has ended; ``address`` is whom it is for. PostgreSQL is asked for TLS first.
    """
    certificate, key = certificate_for(directory, days=days, address=address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server((LOOPBACK, 0)) as server:
        threading.Thread(target=_accept, args=(server, context, port, is_postgresql), daemon=True).start()
        yield server.getsockname()[1], certificate


def _accept(server: socket.socket, context: ssl.SSLContext, port: int, is_postgresql: bool) -> None:
    with suppress(OSError):
        while True:
            client, _address = server.accept()
            if is_postgresql:
                client.recv(8)
                client.sendall(b"S")
            threading.Thread(target=_serve, args=(client, context, port), daemon=True).start()


def _serve(client: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with (
        suppress(OSError),
        context.wrap_socket(client, server_side=True) as secure,
        socket.create_connection((LOOPBACK, port)) as plain,
    ):
        back = threading.Thread(target=_copy, args=(plain, secure), daemon=True)
        back.start()
        _copy(secure, plain)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError, ValueError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
