"""What goes wrong with exports: their row outlives their message."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import empty_the_broker, until_published
from baton_messaging.diagnosis.triage.verdict import State
from django.contrib.auth.models import User

from orders.exports import services
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import ExportState, Format
from tests.blame.owners import PLATFORM, SHOP
from tests.blame.stack import ShopStack

BUILD = "orders.build_export"


def an_export() -> Question:
    Export.objects.all().delete()
    user, _made = User.objects.get_or_create(username="ann", defaults={"is_superuser": True})
    export = services.request_export(user=user, file_format=Format.CSV, selection=Selection(), language="en")
    return Question(str(export.pk), BUILD)


def until_state(stack: ShopStack, question: Question, state: ExportState) -> None:
    stack.wait(Export.objects.filter(pk=question.id, state=state).exists, what=f"an export that is {state}")


def being_built(stack: ShopStack) -> Question:
    """Leave an export in the hands of a worker whose storage takes its time."""
    _mood(stack, "slow")
    question = an_export()
    until_state(stack, question, ExportState.RUNNING)
    return question


def _mood(stack: ShopStack, mood: str) -> None:
    (stack.folder / "storage-mood").write_text(mood)


@fault("export worker away", State.NOBODY_CONSUMES, SHOP)
def away(stack: ShopStack) -> Iterator[Question]:
    stack.stop("bulk")
    question = an_export()
    until_published(stack, question)
    yield question


def refused_by_the_system(name: str, error: str, words: str, step: str) -> None:
    """Put into the catalogue that the storage of exports refuses with an error of the system."""

    def inject(stack: ShopStack) -> Iterator[Question]:
        _mood(stack, error)
        try:
            question = an_export()
            until_state(stack, question, ExportState.FAILED)
            yield question
        finally:
            _mood(stack, "")

    fault(name, State.DEAD, PLATFORM, says=words, step=step, doctor=words)(inject)


refused_by_the_system("disk full for exports", "ENOSPC", "No space left", "room|quota")
refused_by_the_system("storage of exports is read-only", "EROFS", "Read-only file system", "writable|takes writes")
refused_by_the_system("storage of exports forbids writing", "EACCES", "Permission denied", "rights")
refused_by_the_system("disk of exports is broken", "EIO", "Input/output error", "Ask|Look")


@fault("export being built", State.RUNNING, SHOP)
def building(stack: ShopStack) -> Iterator[Question]:
    try:
        yield being_built(stack)
    finally:
        _mood(stack, "")
        stack.kill("bulk")


@fault("export worker killed while it builds", State.NOBODY_CONSUMES, SHOP)
def killed(stack: ShopStack) -> Iterator[Question]:
    try:
        question = being_built(stack)
        stack.kill("bulk")
        _until_abandoned(stack, question)
        yield question
    finally:
        _mood(stack, "")


@fault("export abandoned, beat dead", State.RETRYING, PLATFORM, says="beat", pair=True)
def not_taken_up(stack: ShopStack) -> Iterator[Question]:
    stack.stop("beat")
    try:
        question = being_built(stack)
        stack.kill("bulk")
        empty_the_broker(stack)
        _mood(stack, "")
        stack.start("bulk")
        stack.wait(lambda: stack.lives("bulk"), what="a worker")
        _until_abandoned(stack, question)
        yield question
    finally:
        _mood(stack, "")


def _until_abandoned(stack: ShopStack, question: Question) -> None:
    stack.wait(Export.objects.abandoned().filter(pk=question.id).exists, what="a lease that ran out")
