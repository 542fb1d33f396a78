"""Messages to the sample consumer that most faults befall, and the owners that triage must name."""

from typing import Final
from uuid import uuid4

from baton_dev.blame.catalogue import Question
from baton_dev.blame.effects import place, until_published
from baton_dev.blame.stack import Stack

from tests.sample.events import Sampled

PLATFORM: Final = "Platform team"
SAMPLE: Final = "Sample team"
BLAME: Final = "Blame team"
TAKE_ONE: Final = "sample.take_one"


def ordinary() -> Question:
    """Publish a message whose consumer does as it should."""
    return place(Sampled(sample_id=uuid4()), TAKE_ONE)


def told_to(behaviour: str, seconds: float = 0) -> Question:
    """Publish a message whose consumer misbehaves."""
    return place(Sampled(sample_id=uuid4(), behaviour=behaviour, seconds=seconds), TAKE_ONE)


def in_a_queue(stack: Stack) -> Question:
    """Leave a message in the queue of a worker that is not there."""
    stack.stop("sample")
    question = ordinary()
    until_published(stack, question)
    return question
