"""Mail examined: does the server that takes this project's mail let us in? Alerts about dead letters go that way.

Asked is Django's configured mail backend, whichever it is: one that needs no connection is always right. Nothing that a
mail server says in words is repeated, for it may quote an address.
"""

import contextlib
import smtplib
from collections.abc import Iterator
from typing import Any, Final

import django
from django.core import mail
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.doctor.examination import examines, observed
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.resource import Kind, Resource

ANSWER_SECONDS: Final = 1.0  # for the connection, the greeting and the login each; below the doctor's deadline


@examines("mail server")
def examine_mail_server() -> Iterator[Diagnosis]:
    """Log in to the mail server, and send nothing."""
    backend: Any = mail.mailers.default if django.VERSION >= (6, 1) else mail.get_connection()
    trouble = _log_in(backend)
    where = f" to {backend.host}:{backend.port}" if hasattr(backend, "host") else ""
    yield observed(
        not trouble,
        _("mail server"),
        about=Resource(Kind.SERVICE, "mail"),
        found=trouble or format_lazy(_("{server} takes mail"), server=f"{type(backend).__name__}{where}"),
        wanted=_("a server that lets us log in"),
        remedy=_("Correct the settings of mail (in the scaffold EMAIL_URL), or ask those who run it: mails wait."),
        stops_work=True,
    )


def _log_in(backend: Any) -> str:
    """Open and close a connection; return what went wrong, or nothing."""
    if hasattr(backend, "timeout"):
        backend.timeout = ANSWER_SECONDS
    try:
        backend.open()
    except OSError as error:  # smtplib's exceptions and TLS errors are OSErrors too
        _hang_up(backend)
        return f"{_described(error)} on connecting"
    with contextlib.suppress(Exception):  # it has let us in; how it says goodbye is not asked
        backend.close()
    return ""


def _hang_up(backend: Any) -> None:
    """Close the socket without QUIT: a server that misbehaves is not waited for once more."""
    for attribute in ("connection", "_partial_connection"):
        with contextlib.suppress(Exception):
            getattr(backend, attribute).close()


def _described(error: OSError) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__} with SMTP code {error.smtp_code}"
    if isinstance(error, smtplib.SMTPException) or not error.strerror:
        return type(error).__name__
    return f"{type(error).__name__} ({error.strerror})"
