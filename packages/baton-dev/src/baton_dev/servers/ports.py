"""TCP ports of this machine are found and checked.

Ports chosen here lie below the range that Linux hands out to outgoing connections (32768 and up), so that a port
which is remembered between two runs is not lost to a passing client in the meantime.
"""

import hashlib
import socket
from collections.abc import Iterator

LOOPBACK = "127.0.0.1"
FIRST_PORT = 20_000
PORT_COUNT = 10_000


class PortTakenError(Exception):
    """Another program listens on the port; the message names the variable that chooses it."""

    def __init__(self, *, variable: str, port: int) -> None:
        super().__init__(
            f"{variable}: port {port} is taken by another program. Stop that program, or set {variable} to a free port."
        )


def is_taken(port: int, host: str = LOOPBACK) -> bool:
    """Tell whether a server could not listen on the port. Connections in TIME_WAIT do not count."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def free_port(*, seed: str) -> int:
    """Return a free port. Equal seeds start the search at the same port, different seeds far apart."""
    for port in _candidates(seed):
        if not is_taken(port):
            return port
    raise OSError(f"expected a free port between {FIRST_PORT} and {FIRST_PORT + PORT_COUNT - 1}, found none")


def _candidates(seed: str) -> Iterator[int]:
    start = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big")
    for step in range(PORT_COUNT):
        yield FIRST_PORT + (start + step) % PORT_COUNT
