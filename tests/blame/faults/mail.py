"""What goes wrong with mail: content and recipients are the customer care's, the server is the platform's."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_running
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt, DeadLetter

from tests.blame.faults.orders import a_catalogue
from tests.blame.owners import CARE, PLATFORM
from tests.blame.stack import ShopStack
from tests.orders.factories import an_order

RECEIVED = "notifications.send_order_received"


def a_mail() -> Question:
    """Place an order, of which a mail tells."""
    a_catalogue()
    return Question(str(an_order(MUG=1).pk), RECEIVED)


def until_it_fails(stack: ShopStack, question: Question) -> None:
    failed = Attempt.objects.filter(consumer=question.consumer, key=question.id)
    stack.wait(failed.exists, what="a failed attempt")


def until_it_is_dead(stack: ShopStack, question: Question) -> None:
    mine = DeadLetter.objects.filter(consumer=question.consumer, key=question.id)
    stack.wait(mine.exists, what="a dead letter")


@fault("mail server refuses", (State.RETRYING, State.HELD), PLATFORM, says="MailUnavailable", short=True)
def refusing(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["greeting"] = "421 go away"
    question = a_mail()
    until_it_fails(stack, question)
    yield question


@fault("mail server silent", State.RUNNING, CARE)
def silent(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["greeting"] = "silence"
    question = a_mail()
    until_running(stack, question)
    yield question
    stack.kill_for_good("apps")


@fault("mail server was silent for an attempt", (State.RETRYING, State.HELD), PLATFORM, says="MailUnavailable")
def silent_for_long(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["greeting"] = "silence"
    question = a_mail()
    until_it_fails(stack, question)
    yield question
    stack.kill_for_good("apps")


@fault("mail server slow", State.RUNNING, CARE)
def slow(stack: ShopStack) -> Iterator[Question]:
    stack.mail.replies["RCPT"] = "dribble"
    question = a_mail()
    until_running(stack, question)
    yield question
    stack.kill_for_good("apps")


@fault("mail's template broken", State.DEAD, CARE, says="TemplateSyntaxError")
def broken_template(stack: ShopStack) -> Iterator[Question]:
    path = stack.folder / "broken-templates" / "notifications" / "mail" / "received" / "subject.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{% nonsense %}")
    stack.stop("apps")
    stack.start("apps")
    try:
        question = a_mail()
        until_it_is_dead(stack, question)
        yield question
    finally:
        path.unlink()
        stack.stop("apps")


@fault("recipient refused", State.DEAD, CARE, says="MailRefused", short=True)
def refused_recipient(stack: ShopStack) -> Iterator[Question]:
    stack.mail.unknown_recipients.add("ann@example.com")
    question = a_mail()
    until_it_is_dead(stack, question)
    yield question
