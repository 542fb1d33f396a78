"""A mail server inside the test process that speaks enough SMTP to be right, slow, rude or silent."""

import os
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import ClassVar

from baton_dev.servers.ports import LOOPBACK, free_port

LONGEST_TEST_SECONDS = 60


@dataclass(frozen=True)
class Accepted:
    """One mail that the server took."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes

    @property
    def message(self) -> EmailMessage:
        return message_from_bytes(self.data, policy=default)

    def header(self, name: str) -> str:
        return str(self.message[name]).strip()  # Django 5.2 folds a long subject before its first word


class SmtpServer(socketserver.ThreadingTCPServer):
    """``replies`` overrides what it says to a command, on "greeting" or after a "mail".

    It listens on the same port as the one before, if that is free: processes that are told of it then have the same
    environment as those before, and so a fork server already.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, replies: dict[str, str], on_mail: Callable[[], object] = lambda: None) -> None:
        super().__init__((LOOPBACK, free_port(seed=f"smtp:{os.getpid()}")), SmtpSession)
        self.replies = replies
        self.on_mail = on_mail
        self.unknown_recipients: set[str] = set()
        self.accepted: list[Accepted] = []
        self.connection_count = 0
        self.closing = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Return the EMAIL_URL; whoever waits for a silent server waits for a moment only."""
        timeout_seconds = 0.5 if "silence" in self.replies.values() else 20
        return f"smtp://127.0.0.1:{self.port}?timeout={timeout_seconds}"


class SmtpSession(socketserver.StreamRequestHandler):
    """One connection.

    A reply of "silence" sends nothing and keeps the connection open, "hang up" closes it, "dribble" never finishes.
    """

    server: SmtpServer
    USUAL: ClassVar[dict[str, str]] = {
        "greeting": "220 test",
        "EHLO": "250-test\r\n250-SIZE 1000000\r\n250 AUTH PLAIN",
        "MAIL": "250 ok",
        "RCPT": "250 ok",
        "DATA": "354 go on",
        "mail": "250 taken",
        "RSET": "250 ok",
        "QUIT": "221 bye",
        "AUTH": "235 welcome",
    }

    def handle(self) -> None:
        self.server.connection_count += 1
        self.sender, self.recipients = "", list[str]()
        try:
            if self._reply("greeting"):
                while line := self.rfile.readline():
                    if not self._obey(line.decode("latin-1").strip()):
                        return
        except OSError:
            pass  # the client hung up first

    def _obey(self, line: str) -> bool:
        command = line[:4].upper()
        if command == "MAIL":
            self.sender = line
        if command == "RCPT":
            recipient = line[len("RCPT TO:") :].strip("<>")
            if recipient in self.server.unknown_recipients:
                self.wfile.write(b"550 5.1.1 no such user\r\n")
                return True
            self.recipients.append(recipient)
        going_on = self._reply(command)
        if command == "DATA" and going_on and self.server.replies.get("DATA", "354").startswith("354"):
            return self._take_mail()
        return going_on and command != "QUIT"

    def _take_mail(self) -> bool:
        if self.server.replies.get("mail") == "hang up":
            self.rfile.readline()
            return False
        data = b""
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                return False
            data += line.removeprefix(b".")
        if self.server.replies.get("mail", "250").startswith(("250", "silence")):
            self.server.accepted.append(Accepted(self.sender, tuple(self.recipients), data))
            self.server.on_mail()
        return self._reply("mail")

    def _reply(self, to: str) -> bool:
        """Say what is due; tell whether the conversation goes on."""
        reply = self.server.replies.get(to, self.USUAL.get(to, "502 what?"))
        if reply == "hang up":
            return False
        if reply == "silence":
            self.server.closing.wait(LONGEST_TEST_SECONDS)
            return False
        if reply == "dribble":
            while not self.server.closing.wait(0.02):
                self.wfile.write(b"250-more\r\n")
            return False
        self.wfile.write(reply.encode() + b"\r\n")
        return True


@contextmanager
def smtp_server(on_mail: Callable[[], object] = lambda: None, **replies: str) -> Iterator[SmtpServer]:
    """Run a server; ``replies`` as in ``RCPT="550 no such user"``."""
    with SmtpServer(replies, on_mail) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
