"""What the loop of a worker says of itself."""

from types import SimpleNamespace
from typing import Any

import pytest
from baton_messaging.processes.worker import WorkerHeartbeat
from celery.worker import state


class Request(SimpleNamespace):
    """As Celery keeps one that no child has taken up."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def test_a_beat_names_what_was_taken_while_it_looked_at_the_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    queues = SimpleNamespace(consume_from={"sample": None})
    consumer = SimpleNamespace(
        app=SimpleNamespace(amqp=SimpleNamespace(queues=queues)),
        initial_prefetch_count=2,
        received_at=None,
        received_count=0,
        left_out_queues=set(),
        refusal=None,
        remote_control_refusal=None,
        note_broker=lambda _error, part="broker": None,
    )
    worker: Any = SimpleNamespace(consumer=consumer, pool=SimpleNamespace(num_processes=2), max_concurrency=None)
    pulse = WorkerHeartbeat(worker, SimpleNamespace(beat=said.append))  # type: ignore[arg-type]
    request = Request(name="sample.take_one", args=[["x"]], time_start=None, worker_pid=None)

    def deliver(*_args: Any, **_kwargs: Any) -> bool:
        state.reserved_requests.add(request)
        return True

    monkeypatch.setattr(state, "reserved_requests", set())
    monkeypatch.setattr(state, "active_requests", set())
    monkeypatch.setattr(pulse._intake, "is_flowing", deliver)
    pulse.beat()
    assert [held["consumer"] for held in said[0].reserved] == ["sample.take_one"]
