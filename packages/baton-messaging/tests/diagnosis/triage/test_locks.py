"""A message whose handler waits for a lock: the session that holds it is named, and the command that ends it."""

from dataclasses import replace

import pytest
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.judge import judge
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.diagnosis.triage.verdict import State, Verdict
from baton_messaging.health.locks import LockWait, Session
from baton_messaging.models import Heartbeat
from django.utils import timezone

from tests.diagnosis.triage.world import CARE, PLATFORM, WORKER, ago, delivery, facts, hand
from tests.health.sessions import waiting
from tests.recovery.situations import CONSUMER, hold, send

PSQL = Session(123, "ann", "psql", "", "idle in transaction", ago(600), "UPDATE stock SET on_hand = ?")


def waits_for(holder: Session, *, held_since: float = 3) -> Facts:
    lock = LockWait(7, "baton worker worker@host 7", 8.0, holder)
    return facts(delivery(in_flight=hand(WORKER, since=held_since), lock=lock))


def only(world: Facts) -> Verdict:
    (verdict,) = judge(world)
    return verdict


def test_a_forgotten_session_is_the_platforms_also_beyond_the_limit_of_its_victim() -> None:
    for since in (3.0, 90.0):
        verdict = only(waits_for(PSQL, held_since=since))
        assert (verdict.state, verdict.owner, verdict.step.code) == (State.RUNNING, PLATFORM, "end_session")
        assert verdict.needs_person
        assert "pg_terminate_backend(123)" in verdict.step.command
    assert {"waits_for_lock", "lock_holder", "lock_statement"} <= {line.code for line in verdict.evidence}


def test_a_lock_of_a_worker_is_waited_for_unless_the_worker_does_nothing() -> None:
    busy = replace(PSQL, application="baton worker worker@host 9", state="active")
    assert (only(waits_for(busy)).step.code, only(waits_for(busy)).needs_person) == ("wait", False)
    idle = only(waits_for(replace(busy, state="idle in transaction")))
    assert (idle.step.code, idle.owner) == ("end_session", PLATFORM)
    shops = replace(waits_for(replace(busy, state="idle in transaction")), owners={"mail": CARE})
    assert only(shops).owner == CARE


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("empty_broker", "fresh_heartbeats", "longer_deadlines")
def test_the_child_that_waits_is_found_by_the_name_of_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baton_messaging.health.locks.MIN_WAIT_SECONDS", 0)
    (row,) = send()
    running = {"consumer": CONSUMER, "message_ids": [str(row.message_id)], "started_at": f"{timezone.now()}", "pid": 7}
    worker = hold([], reserved=[], running=[running])
    other = Heartbeat.objects.create(
        name="b", role="worker", hostname="h", pid=1, started_at=timezone.now(), is_consuming=True
    )
    with waiting(other, f"shop baton worker {worker.name[:30]} 7"):
        (answer,) = triage(row.key).verdicts
    assert answer.state == "running"
    assert answer.state_text.startswith("running (waits for a lock of session ")
    assert "psql" in answer.state_text
    assert not any("secret" in line for line in answer.evidence)
