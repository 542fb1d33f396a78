"""Mail servers that refuse for all, not for one recipient: whoever runs them must act, and the sentence says why."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.certificates import tls_server
from baton_messaging.diagnosis.triage.verdict import State

from tests.blame.faults.mail import a_mail, until_it_fails, until_it_is_dead
from tests.blame.owners import PLATFORM
from tests.blame.stack import ShopStack

#: A refusal for all is no message's fault: it is tried again, and stands under the mail server's own finding.
HELD_UP = (State.RETRYING, State.HELD)


def with_another_server(stack: ShopStack, url: str, **environment: str) -> Iterator[Question]:
    """Let the workers have another mail server than before."""
    stack.restart("apps", EMAIL_URL=url, **environment)
    try:
        question = a_mail()
        until_it_fails(stack, question)
        yield question
    finally:
        stack.stop("apps")


@fault("mail server's certificate expired", HELD_UP, PLATFORM, says="expired", step="certificate", doctor="expired")
def expired(stack: ShopStack) -> Iterator[Question]:
    with tls_server(stack.folder / "expired", is_expired=True) as (port, trusted):
        yield from with_another_server(stack, f"smtps://127.0.0.1:{port}", SSL_CERT_FILE=str(trusted))


@fault("mail server's certificate is another host's", HELD_UP, PLATFORM, says="certificate", doctor="certificate")
def of_another_host(stack: ShopStack) -> Iterator[Question]:
    with tls_server(stack.folder / "other", host="other.example.com") as (port, trusted):
        yield from with_another_server(stack, f"smtps://127.0.0.1:{port}", SSL_CERT_FILE=str(trusted))


@fault("mail server's certificate is its own", HELD_UP, PLATFORM, says="self.signed", doctor="self.signed")
def self_signed(stack: ShopStack) -> Iterator[Question]:
    with tls_server(stack.folder / "own") as (port, _not_trusted):
        yield from with_another_server(stack, f"smtps://127.0.0.1:{port}")


@fault("mail server without STARTTLS", HELD_UP, PLATFORM, says="STARTTLS", doctor="STARTTLS")
def no_starttls(stack: ShopStack) -> Iterator[Question]:
    yield from with_another_server(stack, f"smtp+tls://127.0.0.1:{stack.mail.port}")


@fault("mail server's name is gone", HELD_UP, PLATFORM, says="no-such-host|resolve|not known", doctor="no-such-host")
def no_name(stack: ShopStack) -> Iterator[Question]:
    yield from with_another_server(stack, "smtp://no-such-host.invalid:25")


@fault("mail server is not there", HELD_UP, PLATFORM, says="refused", doctor="refused")
def not_there(stack: ShopStack) -> Iterator[Question]:
    yield from with_another_server(stack, "smtp://127.0.0.1:9")


@fault("mail server refuses the password", HELD_UP, PLATFORM, says="535", doctor="535")
def refused_password(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["AUTH"] = "535 5.7.8 bad credentials"
    yield from with_another_server(stack, f"smtp://shop:wrong@127.0.0.1:{stack.mail.port}")


@fault("mail server refuses every sender", HELD_UP, PLATFORM, says="450", doctor="450")
def refused_sender(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["MAIL"] = "450 4.7.1 too many mails from here"
    question = a_mail()
    until_it_fails(stack, question)
    yield question


@fault("mail server relays for nobody", State.DEAD, PLATFORM, says="550", step="replay", doctor="550")
def relays_for_nobody(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["RCPT"] = "550 5.7.1 relaying denied"
    for question in (a_mail(), a_mail()):
        until_it_is_dead(stack, question)
    yield question
