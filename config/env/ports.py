"""Ports that the environment chooses are refused in one line when another program has them."""

import socket

from config.env import end


def end_if_taken(variable: str, *, port: int, host: str) -> None:
    """End the process by naming the variable. Connections in TIME_WAIT do not count."""
    try:
        socket.create_server((host, port)).close()
    except OSError:
        end(f"{variable}: port {port} is taken by another program. Stop it, or set {variable} to a free port.")
