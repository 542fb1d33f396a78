"""The check of the mail server goes as far as a mail does before it has a recipient: EHLO, TLS, login, sender.

Asked is Django's configured mail backend, whichever it is: one that needs no connection is always right. No mail is
sent: the sender is taken back by RSET.
"""

import contextlib
import smtplib
from email.utils import parseaddr
from typing import Any, Final

import django
from django.conf import settings
from django.core import mail

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.certificates import certificate_of
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.refusals import of_server
from baton_messaging.health.registry import health_check

_OK: Final = 250


@health_check("mail")
def check_mail(deadline: Deadline) -> Health:
    """Log in to the mail server, name the sender, and send nothing."""
    backend: Any = mail.mailers.default if django.VERSION >= (6, 1) else mail.get_connection()
    server = f"{backend.host}:{backend.port}" if hasattr(backend, "host") else ""
    facts: dict[str, Any] = {"backend": type(backend).__name__}
    if hasattr(backend, "timeout"):
        backend.timeout = deadline.seconds_left
    try:
        backend.open()
        facts |= _ask(backend.connection) if isinstance(getattr(backend, "connection", None), smtplib.SMTP) else {}
    except Exception as error:  # whatever a backend raises
        _hang_up(backend)
        refusal = of_server(error)
        return Health("mail", refusal.condition, refusal.said, server, facts=facts)
    with contextlib.suppress(Exception):  # it has let us in; how it says goodbye is not asked
        backend.close()
    return Health("mail", Condition.OK, server=server, facts=facts)


def _ask(connection: smtplib.SMTP) -> dict[str, Any]:
    """Say EHLO and name the sender of the project's mails. Raises SMTPHeloError, SMTPSenderRefused."""
    connection.ehlo_or_helo_if_needed()
    certificate = certificate_of(connection.sock)
    _name, sender = parseaddr(str(settings.DEFAULT_FROM_EMAIL))
    code, words = connection.mail(sender)
    if code != _OK:
        raise smtplib.SMTPSenderRefused(code, words, sender)
    connection.rset()
    return {"certificate": certificate} if certificate else {}


def _hang_up(backend: Any) -> None:
    """Close the socket without QUIT: a server that misbehaves is not waited for once more."""
    for attribute in ("connection", "_partial_connection"):
        with contextlib.suppress(Exception):
            getattr(backend, attribute).close()
