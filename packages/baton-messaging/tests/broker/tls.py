"""TLS in front of a server that has none: the Valkey of the wheel is built without."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from baton_dev.servers.ports import LOOPBACK


@contextmanager
def tls_in_front_of(port: int, directory: Path) -> Iterator[tuple[int, Path]]:
    """Serve a port with TLS for as long as the block runs; return the new port and the certificate."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    subject = ["-subj", f"/CN={LOOPBACK}", "-addext", f"subjectAltName=IP:{LOOPBACK}"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server((LOOPBACK, 0)) as server:
        threading.Thread(target=_accept, args=(server, context, port), daemon=True).start()
        yield server.getsockname()[1], certificate


def _accept(server: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with suppress(OSError):
        while True:
            client, _address = server.accept()
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
