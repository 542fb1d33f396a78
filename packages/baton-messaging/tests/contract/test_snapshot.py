"""The depths that a page or a scrape reads are those of the broker, whichever it is."""

from collections.abc import Iterator

import pytest
from baton_messaging.broker.inspect import snapshot

from tests.contract.brokers import Broker
from tests.contract.celery_app import QUEUES


@pytest.fixture
def looked_at(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    monkeypatch.setattr(snapshot, "current_app", broker.app)
    monkeypatch.setattr(snapshot, "_pending", None)
    monkeypatch.setattr(snapshot, "_last", None)
    yield broker
    if snapshot._pending is not None:
        snapshot._pending.exception(timeout=10)


def test_a_look_counts_what_waits(looked_at: Broker) -> None:
    for _ in range(3):
        looked_at.send("wait", "nowhere")
    found = snapshot.depths_in_time([*QUEUES, "no such queue"], seconds=10)
    assert found is not None
    assert (found[QUEUES[0]].waiting, found[QUEUES[1]].waiting, found["no such queue"].waiting) == (3, 0, 0)
