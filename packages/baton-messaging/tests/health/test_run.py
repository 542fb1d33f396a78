"""Checks run at the same time, within one deadline, and none can hurt another."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.database.deadline import Deadline
from baton_messaging.health import registry
from baton_messaging.health.answers import Answer, StoodStill, _none, _Thread, answers_within
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.registry import Check, check_names, health_check
from baton_messaging.health.run import run_checks
from baton_messaging.routing.discovery import Registry


@pytest.fixture(autouse=True)
def _own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_CHECKS", Registry[str, Check]("health"))
    monkeypatch.setattr(registry, "_OWN", {})


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_all_are_asked_at_the_same_time_and_answer_in_order() -> None:
    meeting = threading.Barrier(3, timeout=10)

    @health_check("one")
    @health_check("two")
    @health_check("three")
    def meet(_deadline: Deadline) -> Health:
        meeting.wait()
        return Health("", Condition.OK, facts={"n": 1})

    found = run_checks(["two", "one", "three", "two"], deadline_seconds=10)

    assert [(one.name, one.condition) for one in found] == [(name, Condition.OK) for name in ("two", "one", "three")]
    assert all(one.checked_at and one.seconds is not None for one in found)


def test_what_a_check_raises_is_its_answer_and_no_others() -> None:
    @health_check("broken")
    def broken(_deadline: Deadline) -> Health:
        raise ConnectionRefusedError(111, "Connection refused")

    @health_check("buggy")
    def buggy(_deadline: Deadline) -> Health:
        raise KeyError("x")

    @health_check("well")
    def well(_deadline: Deadline) -> Health:
        return Health("well", Condition.OK)

    assert [(one.condition, one.said) for one in run_checks()] == [
        (Condition.AWAY, "Connection refused"),
        (Condition.NOT_KNOWN, "KeyError: 'x'"),
        (Condition.OK, ""),
    ]


def test_one_that_hangs_is_left_behind_and_not_asked_twice(gate: threading.Event) -> None:
    asked = []

    @health_check("hanging")
    def hang(_deadline: Deadline) -> Health:
        asked.append(1)
        gate.wait()
        return Health("hanging", Condition.OK)

    started = time.monotonic()
    first, second = (run_checks(["hanging"], deadline_seconds=0.2)[0] for _ in range(2))

    assert time.monotonic() - started < 5
    assert first.condition is second.condition is Condition.NOT_KNOWN  # so short a silence accuses nobody
    assert first.said.startswith("no answer within 0.2")
    assert asked == [1]


def test_silence_accuses_the_server_if_there_was_time_to_listen(gate: threading.Event) -> None:
    @health_check("silent")
    def hang(_deadline: Deadline) -> Health:
        gate.wait()
        return Health("silent", Condition.OK)

    def is_accused() -> bool:  # on a machine that other tests keep busy there is not always the time to listen
        (found,) = run_checks(["silent"], deadline_seconds=3)
        return (found.condition, found.said) == (Condition.AWAY, "no answer within 3 s")

    wait_until(is_accused, seconds=90, what="a server that is accused")


def test_process_that_computes_all_the_time_accuses_nobody(gate: threading.Event) -> None:
    @health_check("hanging beside")
    def hang(_deadline: Deadline) -> Health:
        gate.wait()
        return Health("hanging beside", Condition.OK)

    @health_check("computing")
    def compute(_deadline: Deadline) -> Health:
        while not gate.is_set():
            pass
        return Health("computing", Condition.OK)

    found, _computing = run_checks(["hanging beside", "computing"], deadline_seconds=3)

    assert found.condition is Condition.NOT_KNOWN
    assert found.said.endswith("but this process or machine was busy")


def test_what_a_server_was_seen_to_wait_for_counts_however_late_it_is() -> None:
    @health_check("waiting")
    def waiting(_deadline: Deadline) -> Health:
        return Health("waiting", Condition.REFUSES, "no answer to COMMIT", facts={"waits_for": "IPC/SyncRep"})

    assert run_checks(["waiting"], deadline_seconds=0.2)[0].condition is Condition.REFUSES


def test_name_of_no_check_is_not_known() -> None:
    (found,) = run_checks(["nobody's"])

    assert (found.condition, found.does_the_work) == (Condition.NOT_KNOWN, True)


def test_an_app_replaces_a_check_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_OWN", {"mail": "no.such.module"})

    @health_check("mail")
    def own(_deadline: Deadline) -> Health:
        return Health("mail", Condition.OK, "mine")

    assert run_checks(["mail"])[0].said == "mine"
    assert check_names() == ["mail"]


def test_deadline_that_was_slept_through_says_nothing_of_the_server() -> None:
    thread = _Thread("late", lambda _deadline: None, Deadline.after(1))

    answer: Answer[None] = _none(thread, overdue=40.0, seconds=2)

    assert isinstance(answer.error, StoodStill)


def test_asked_function_has_less_time_than_who_asks() -> None:
    seen: list[float] = []
    look: Callable[[Deadline], None] = lambda deadline: seen.append(deadline.seconds_left)  # noqa: E731

    answers_within(1, {"look": look})

    assert seen[0] < 0.95


def test_an_answer_that_was_given_is_not_given_again(monkeypatch: pytest.MonkeyPatch, gate: threading.Event) -> None:
    closing = threading.Event()

    def close_slowly() -> None:
        closing.set()
        gate.wait(10)

    monkeypatch.setattr("baton_messaging.health.answers.connections.close_all", close_slowly)
    answers_within(0.2, {"it": lambda _deadline: "before"}, key="test")
    assert closing.wait(5)
    assert answers_within(0.2, {"it": lambda _deadline: "after"}, key="test")["it"].value == "after"
