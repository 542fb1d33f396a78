"""Deadlines for tests that are about what the servers say, not about how long triage waits for it."""

import pytest
from baton_messaging.diagnosis.triage.gather import gather
from baton_messaging.diagnosis.triage.gather.servers import ask_servers


@pytest.fixture
def longer_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for those that answer: the tests' machine may be busy, and a late answer is left out."""
    assert ask_servers.__kwdefaults__
    monkeypatch.setitem(ask_servers.__kwdefaults__, "seconds", 15)
    monkeypatch.setattr(gather, "REST_SECONDS", 15)
