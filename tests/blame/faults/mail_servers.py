"""Mail servers that refuse for all, not for one recipient: whoever runs them must act, and the sentence says why."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.certificates import tls_server
from baton_dev.blame.effects import until_processed
from baton_dev.testing.smtp_server import smtp_server
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Heartbeat

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


#: What a mail server may reply, at which word of ours, and what the next step must say.
REPLIES = (
    ("takes no more connections", "greeting", "421 4.7.0 too many connections from you", "connections|fewer"),
    ("has our address on a list", "greeting", "554 5.7.1 no service for you", "list"),
    ("refuses every sender for now", "MAIL", "450 4.7.1 too many mails from here", "sender|rate"),
    ("has no room", "MAIL", "452 4.3.1 insufficient system storage", "room|quota"),
    ("wants a login", "MAIL", "530 5.7.1 authentication required", "user and a password"),
    ("wants TLS first", "MAIL", "530 5.7.0 must issue a STARTTLS command first", "smtps?"),
    ("does not take our sender", "MAIL", "550 5.7.1 sender not allowed", "DEFAULT_FROM_EMAIL"),
    ("has a quota that we have used up", "MAIL", "552 5.2.2 over quota", "quota"),
    ("cannot check logins for now", "AUTH", "454 4.7.0 temporary authentication failure", "login"),
    ("wants another kind of login", "AUTH", "534 5.7.9 application-specific password required", "application"),
    ("refuses the password", "AUTH", "535 5.7.8 bad credentials", "password"),
)


def replying(name: str, at: str, reply: str, step: str) -> None:
    """Put a reply into the catalogue: each view says its code."""

    def inject(stack: ShopStack) -> Iterator[Question]:
        stack.mail.replies[at] = reply
        if at == "AUTH":
            yield from with_another_server(stack, f"smtp://shop:wrong@127.0.0.1:{stack.mail.port}")
            return
        question = a_mail()
        until_it_fails(stack, question)
        yield question

    fault(f"mail server {name}", HELD_UP, PLATFORM, says=reply[:3], step=step, doctor=reply[:3])(inject)


for _reply in REPLIES:
    replying(*_reply)


@fault("mail server puts every recipient off", HELD_UP, PLATFORM, says="450", step="greylisting", doctor="450")
def greylisting(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["RCPT"] = "450 4.2.0 greylisted, come back later"
    question = a_mail()
    until_it_fails(stack, question)
    yield question


def sent_otherwise(stack: ShopStack, url: str) -> Iterator[Question]:
    """Let the worker hand its mails in elsewhere than all other processes would."""
    stack.restart("apps", EMAIL_URL=url)
    mine = Heartbeat.objects.filter(pid=stack.processes["apps"].pid, wiring__has_key="mail")
    stack.wait(mine.exists, what="a worker that says where it hands its mails in")
    try:
        question = a_mail()
        until_processed(stack, question)
        yield question
    finally:
        stack.stop("apps")


@fault("worker writes its mails into files", State.DONE, PLATFORM, says="mail", step="EMAIL_URL", doctor="mails")
def into_files(stack: ShopStack) -> Iterator[Question]:
    yield from sent_otherwise(stack, f"file://{stack.folder}/lost-mails")


@fault("worker with another mail server", State.DONE, PLATFORM, says="server", step="EMAIL_URL", doctor="mails")
def another_server(stack: ShopStack) -> Iterator[Question]:
    with smtp_server() as other:
        yield from sent_otherwise(stack, f"smtp://127.0.0.1:{other.port}")


@fault("mail server relays for nobody", State.DEAD, PLATFORM, says="550", step="replay", doctor="550")
def relays_for_nobody(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["RCPT"] = "550 5.7.1 relaying denied"
    for question in (a_mail(), a_mail()):
        until_it_is_dead(stack, question)
    yield question
