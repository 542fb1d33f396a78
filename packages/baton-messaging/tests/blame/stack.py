"""The stack of the samples: relay, collector, beat, and a worker for each sample app."""

from typing import ClassVar

from baton_dev.blame.stack import Stack, usual_parts, worker
from django.db.models import Model

from tests.sample.models import Effect


class SampleStack(Stack):
    """The worker of Baton's own queue also serves the consumers of tests/blame: killing it hurts no sample."""

    parts = {
        **usual_parts(),
        "sample": worker("sample", "sample", concurrency=2),
        "blame": worker("blame", "baton", "blame"),
    }
    models: ClassVar[tuple[type[Model], ...]] = (Effect,)


STACK = SampleStack
