"""Against a mail server that listens on a socket: what each way of failing becomes."""

import gc
import signal
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from baton_dev.testing.smtp_server import SmtpServer
from baton_messaging.errors import PermanentError, TransientError
from baton_messaging.messages.error_description import describe
from celery.exceptions import SoftTimeLimitExceeded
from pytest_django import Settings

from notifications.delivery import deliver
from notifications.errors import MailRefused, MailUnavailable
from notifications.letters import compose
from notifications.models import Kind
from tests.notifications.factories import an_order

StartServer = Callable[..., SmtpServer]
MailTo = Callable[[str], None]


def send_one() -> None:
    deliver(compose(an_order(), Kind.CONFIRMED))


def test_an_accepted_mail_arrives_whole(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order(customer_name="東京 太郎", language="ja")
    deliver(compose(order, Kind.RECEIVED))
    (mail,) = server.accepted
    assert mail.recipients == ("ada@example.org",)
    assert mail.header("Subject") == "ご注文 BA-1001 を受け付けました"
    assert mail.header("From") == "shop@example.com"
    assert mail.message["To"].addresses[0].display_name == "東京 太郎"
    body = mail.message.get_body(("plain",))
    assert body is not None
    assert "東京 太郎 様" in body.get_content()


@pytest.mark.parametrize("code", [550, 551, 553, 554])
def test_a_refused_recipient_is_permanent(mail_server: StartServer, code: int) -> None:
    mail_server(RCPT=f"{code} 5.1.1 <ada@example.org>: Ada is not here")
    with pytest.raises(MailRefused, match=f"recipient refused with SMTP code {code}") as caught:
        send_one()
    assert isinstance(caught.value, PermanentError)


@pytest.mark.parametrize("code", [421, 450, 451, 452])
def test_a_greylisted_recipient_is_transient(mail_server: StartServer, code: int) -> None:
    mail_server(RCPT=f"{code} 4.7.1 <ada@example.org>: try later")
    with pytest.raises(MailUnavailable, match=f"SMTP code {code}") as caught:
        send_one()
    assert isinstance(caught.value, TransientError)


@pytest.mark.parametrize("step", ["DATA", "mail"])
def test_refused_content_is_permanent(mail_server: StartServer, step: str) -> None:
    mail_server(**{step: "554 5.7.1 looks like spam"})
    with pytest.raises(MailRefused, match="content refused with SMTP code 554"):
        send_one()


@pytest.mark.parametrize(
    "replies",
    [
        {"greeting": "421 too busy"},
        {"greeting": "554 no service"},
        {"greeting": "hang up"},
        {"greeting": "what?"},
        {"EHLO": "hang up"},
        {"MAIL": "451 later"},
        {"MAIL": "550 sender not allowed"},
        {"MAIL": "hang up"},
        {"RCPT": "hang up"},
        {"DATA": "451 disk full"},
        {"DATA": "hang up"},
        {"mail": "452 disk full"},
        {"mail": "hang up"},
    ],
    ids=str,
)
def test_a_server_in_trouble_is_transient(mail_server: StartServer, replies: dict[str, str]) -> None:
    mail_server(**replies)
    with pytest.raises(MailUnavailable):
        send_one()


@pytest.mark.parametrize("step", ["greeting", "EHLO", "RCPT", "DATA", "mail"])
def test_a_silent_server_is_cut_off_by_the_timeout(mail_server: StartServer, step: str) -> None:
    mail_server(**{step: "silence"})
    started = time.monotonic()
    with pytest.raises(MailUnavailable):
        send_one()
    assert time.monotonic() - started < 30  # or else as long as the server is silent, which is a minute


def test_a_server_that_is_not_there_is_transient(mail_to: MailTo) -> None:
    mail_to("smtp://127.0.0.1:1?timeout=2")
    with pytest.raises(
        MailUnavailable, match=r"ConnectionRefusedError \(Connection refused\) on connecting to \S+:\d+"
    ):
        send_one()


def test_a_server_name_that_does_not_resolve_is_transient(mail_to: MailTo) -> None:
    mail_to("smtp://mail.invalid:25?timeout=2")
    with pytest.raises(MailUnavailable, match="gaierror"):
        send_one()


def test_a_wrong_password_is_transient_because_an_operator_mends_it(mail_server: StartServer, mail_to: MailTo) -> None:
    server = mail_server(AUTH="535 5.7.8 ada is no user")
    mail_to(server.url.replace("127.0.0.1", "shop:secret@127.0.0.1"))
    with pytest.raises(MailUnavailable, match="SMTPAuthenticationError with SMTP code 535") as caught:
        send_one()
    assert "secret" not in describe(caught.value).traceback


def test_a_server_without_the_tls_that_was_asked_for_gets_no_mail(mail_server: StartServer, mail_to: MailTo) -> None:
    server = mail_server()
    mail_to(server.url.replace("smtp://", "smtp+tls://"))
    with pytest.raises(MailUnavailable, match="SMTPNotSupportedError"):
        send_one()
    mail_to(server.url.replace("smtp://", "smtps://"))
    with pytest.raises(MailUnavailable, match=ssl.SSLError.__name__):
        send_one()
    assert not server.accepted


@pytest.mark.parametrize("goodbye", ["silence", "hang up", "554 no", "421 too long"])
def test_an_accepted_mail_stays_accepted_whatever_the_goodbye(mail_server: StartServer, goodbye: str) -> None:
    server = mail_server(QUIT=goodbye)
    send_one()
    assert len(server.accepted) == 1


@pytest.mark.parametrize("step", ["EHLO", "RCPT", "mail"])
def test_a_server_that_dribbles_for_ever_is_cut_off_by_the_soft_time_limit(mail_server: StartServer, step: str) -> None:
    mail_server(**{step: "dribble"})
    with soft_time_limit(seconds=0.7), pytest.raises(MailUnavailable, match="within the soft time limit"):
        send_one()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_greeting_that_dribbles_for_ever_is_cut_off_by_the_soft_time_limit(mail_server: StartServer) -> None:
    mail_server(greeting="dribble")
    with soft_time_limit(seconds=0.7), pytest.raises(MailUnavailable, match="greeting within the soft time limit"):
        send_one()
    gc.collect()  # smtplib leaves this socket to the garbage collector; let it warn here


def test_a_server_that_dribbles_its_goodbye_does_not_undo_the_mail(mail_server: StartServer) -> None:
    server = mail_server(QUIT="dribble")
    with soft_time_limit(seconds=0.7):
        send_one()
    assert len(server.accepted) == 1


@pytest.mark.parametrize(
    "replies",
    [
        {"RCPT": "550 <ada@example.org> Ada Lovelace unknown"},
        {"RCPT": "450 <ada@example.org> Ada Lovelace later"},
        {"mail": "554 mail to ada@example.org for Ada Lovelace is spam"},
        {"greeting": "554 ada@example.org Ada Lovelace"},
        {"MAIL": "550 ada@example.org Ada Lovelace"},
    ],
    ids=str,
)
def test_what_is_kept_of_an_error_names_no_person(mail_server: StartServer, replies: dict[str, str]) -> None:
    mail_server(**replies)
    with pytest.raises((MailRefused, MailUnavailable)) as caught:
        send_one()
    kept = describe(caught.value)
    for text in (kept.message, kept.traceback):
        assert "ada@" not in text
        assert "Lovelace" not in text


def test_a_sender_that_cannot_be_written_is_refused(mail_server: StartServer, settings: Settings) -> None:
    mail_server()
    settings.DEFAULT_FROM_EMAIL = "shop@example.com\nBcc: x@example.com"
    with pytest.raises(MailRefused, match="cannot be written"):
        send_one()


@contextmanager
def soft_time_limit(*, seconds: float) -> Iterator[None]:
    """Raise what a prefork worker raises, the way it does: from a signal handler."""

    def handler(_signum: int, _frame: object) -> None:
        raise SoftTimeLimitExceeded

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_a_folder_that_cannot_be_written_is_transient(mail_to: MailTo, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("a file stands in the way")
    mail_to(f"file://{tmp_path}/mail")
    with pytest.raises(MailUnavailable, match="FileExistsError"):
        send_one()
