"""Certificates of one's own: expired, or of another host; and a server in front of which they stand."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from baton_dev.servers.ports import LOOPBACK

OPENSSL_CONFIG = """
[ca]
default_ca = own
[own]
database = {folder}/index.txt
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = any
email_in_dn = no
[any]
commonName = supplied
"""


@contextmanager
def tls_server(folder: Path, *, host: str = LOOPBACK, is_expired: bool = False) -> Iterator[tuple[int, Path]]:
    """Listen with TLS; yield the port and the certificate, which a client may be told to trust."""
    folder.mkdir(exist_ok=True)
    certificate = _certificate(folder, host, is_expired=is_expired)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, folder / "key.pem")
    with socket.create_server((LOOPBACK, 0)) as server:
        threading.Thread(target=_accept, args=(server, context), daemon=True).start()
        yield server.getsockname()[1], certificate


def _certificate(folder: Path, host: str, *, is_expired: bool) -> Path:
    config, request, certificate = (folder / name for name in ("ca.cnf", "request.pem", "certificate.pem"))
    config.write_text(OPENSSL_CONFIG.format(folder=folder))
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01\n")
    extension = folder / "names.cnf"
    kind = "IP" if host == LOOPBACK else "DNS"
    extension.write_text(f"subjectAltName={kind}:{host}\nbasicConstraints=CA:TRUE\n")
    key = str(folder / "key.pem")
    new = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}", "-keyout", key, "-out", str(request)]
    until = ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z" if is_expired else "20990101000000Z"]
    own = ["ca", "-batch", "-selfsign", "-notext", "-config", str(config), "-keyfile", key]
    files = ["-extfile", str(extension), "-in", str(request), "-out", str(certificate)]
    for words in (new, [*own, *until, *files]):
        subprocess.run(["openssl", *words], check=True, capture_output=True)
    return certificate


def _accept(server: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            client, _address = server.accept()
        except OSError:
            return
        threading.Thread(target=_greet, args=(client, context), daemon=True).start()


def _greet(client: socket.socket, context: ssl.SSLContext) -> None:
    """Shake hands: who refuses the certificate goes no further, and nobody else is expected."""
    with suppress(OSError), context.wrap_socket(client, server_side=True) as secure:
        secure.sendall(b"421 nobody is expected here\r\n")
