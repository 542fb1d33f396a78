"""The outage proxy stands before a server: closed, it cuts every connection and takes no new one, as an outage does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LOOPBACK = "127.0.0.1"


class OutageProxy:
    """Forwards a port of its own to a server, while it is open."""

    def __init__(self, port: int) -> None:
        self._target = (LOOPBACK, port)
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self._is_open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Cut everything off."""
        with self._lock:
            self._is_open = False
            held, self._sockets = self._sockets, []
        for connection in held:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def open(self) -> None:
        """Let connections through again."""
        with self._lock:
            self._is_open = True

    def end(self) -> None:
        """Stop listening."""
        self.close()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if not self._is_open:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target)
                except OSError:  # the server is down; the proxy goes on, as the machine it stands on does
                    client.close()
                    continue
                self._sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def outage_proxy(port: int) -> Iterator[OutageProxy]:
    """Put a proxy in front of a port."""
    proxy = OutageProxy(port)
    try:
        yield proxy
    finally:
        proxy.end()
