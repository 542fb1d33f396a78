"""Hand one mail to the mail server, and say by type what went wrong.

MailRefused (permanent) is about this mail: recipient or content refused with 5xx, an address that cannot be written.
MailUnavailable (transient) is about the server or our account there: no connection, silence, 4xx, a login or a sender
that is refused. A wrong password is counted as transient on purpose: an operator mends it, and then every waiting
mail goes out by itself.

Hazard: a server that accepts the mail and dies before it says so gets it again, with the same Message-ID.
"""

import contextlib
import smtplib
from email.errors import MessageError

import django
from celery.exceptions import SoftTimeLimitExceeded
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from notifications.errors import MailRefused, MailUnavailable

_HIGHEST_TRANSIENT_CODE = 499  # SMTP: 4xx is "try later", 5xx "never"; anything below is no answer to count on


def deliver(letter: EmailMessage) -> None:
    """Send the mail through Django's default mailer. Raises MailRefused, MailUnavailable.

    *Units*: each wait for the server ends after EMAIL_URL's ``timeout`` (seconds, 10 unless set); a server that keeps
    dribbling bytes is cut off by the soft time limit of the task.
    """
    backend = _backend()
    try:
        _open(backend)
        _send(backend, letter)
    except BaseException:
        _hang_up(backend)
        raise
    _say_goodbye(backend)


def _backend() -> BaseEmailBackend:
    if django.VERSION >= (6, 1):
        return mail.mailers.default
    return mail.get_connection()


def _open(backend: BaseEmailBackend) -> None:
    try:
        backend.open()
    except SoftTimeLimitExceeded:
        raise MailUnavailable("it did not finish its greeting within the soft time limit") from None
    except OSError as error:  # smtplib's exceptions and TLS errors are OSErrors too
        raise MailUnavailable(f"{_describe(error)} on connecting{_to(backend)}") from None


def _to(backend: BaseEmailBackend) -> str:
    """Name the server, where there is one."""
    host = getattr(backend, "host", "")
    return f" to {host}:{getattr(backend, 'port', '')}" if host else ""


def _send(backend: BaseEmailBackend, letter: EmailMessage) -> None:
    try:
        backend.send_messages([letter])
    except SoftTimeLimitExceeded:
        raise MailUnavailable("it did not take the mail within the soft time limit") from None
    except OSError as error:
        raise _classified(error) from None
    except (ValueError, MessageError):  # text that cannot be made a header or an address
        raise MailRefused("a header or an address cannot be written") from None


def _classified(error: OSError) -> MailRefused | MailUnavailable:
    """Tell whether the error is about this mail. Nothing that the server said in words is repeated."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            code, _text = next(iter(error.recipients.values()))
            what = "recipient refused"
        case smtplib.SMTPDataError():
            code, what = error.smtp_code, "content refused"
        case smtplib.SMTPNotSupportedError():
            return MailRefused("the server does not support international addresses")
        case _:
            return MailUnavailable(f"{_describe(error)} on sending")
    if code > _HIGHEST_TRANSIENT_CODE:
        return MailRefused(f"{what} with SMTP code {code}")
    return MailUnavailable(f"{what} for now with SMTP code {code}")


def _describe(error: OSError) -> str:
    """Name the error without the words of the server, in which it may quote the recipient."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__} with SMTP code {error.smtp_code}"
    if isinstance(error, smtplib.SMTPException) or not error.strerror:
        return type(error).__name__
    return f"{type(error).__name__} ({error.strerror})"


def _hang_up(backend: BaseEmailBackend) -> None:
    """Close the socket without QUIT: a server that misbehaves is not waited for once more."""
    for attribute in ("connection", "_partial_connection"):
        with contextlib.suppress(Exception):
            getattr(backend, attribute).close()


def _say_goodbye(backend: BaseEmailBackend) -> None:
    """Close in the orderly way. The mail is accepted: whatever happens now must not send it a second time."""
    connection = getattr(backend, "connection", None)
    try:
        backend.close()
    except Exception:  # even the soft time limit, see above
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()
