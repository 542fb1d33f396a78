"""How wirings are compared: rows in, differences out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from baton_messaging.health.storage import storage_health
from baton_messaging.processes import wired, wiring
from baton_messaging.processes.wired import Wired, differences
from django.core.files.storage import FileSystemStorage

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
BROKER = {"address": "mq:6379/0", "id": "run1/0"}
KEYS = {"signs": "k1", "accepts": ["k1"]}
RELEASE = {"project": "1.0", "baton-messaging": "0.3.0", "celery": "5.7.0"}


def process(name: str, *, minutes: float = 60, role: str = "worker", **wiring: Any) -> Wired:
    """Return a process that started so many minutes ago, wired as all others but for what is given."""
    started = NOW - timedelta(minutes=minutes)
    facts = {"broker": BROKER, "keys": KEYS, "release": RELEASE, "storage": {"exports": "s1"}, **wiring}
    return Wired(name, role, "vm", 1, started, started, NOW, facts, NOW, ("sample",))


@pytest.fixture(autouse=True)
def _a_consumer_depends_on_exports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wired, "checks_of", lambda name: ("exports",) if name == "sample.take_one" else ())


def told(*processes: Wired) -> list[tuple[str, list[str], str, str]]:
    return [
        (one.aspect, [odd.name for odd in one.odd], one.odd_value, one.usual_value) for one in differences(processes)
    ]


def test_what_is_wired_alike_does_not_differ() -> None:
    assert told() == told(process("a")) == told(process("a"), process("b")) == []


@pytest.mark.parametrize(
    ("wiring", "expected"),
    [
        ({"broker": {"address": "new:6379/0", "id": "run2/0"}}, ("broker", "new:6379/0", "mq:6379/0")),
        ({"broker": {**BROKER, "id": "run2/0"}}, ("broker", "mq:6379/0 (server run2/0)", "mq:6379/0 (server run1/0)")),
        ({"keys": {"signs": "k2", "accepts": ["k2"]}}, ("keys", "k2", "k1")),
        ({"storage": {"exports": "s2"}}, ("storage", "exports s2", "exports s1")),
        ({"release": {**RELEASE, "project": "0.9"}}, ("release", "project 0.9", "project 1.0")),
        (
            {"release": {**RELEASE, "baton-messaging": "0.2.0"}},
            ("release", "baton-messaging 0.2.0", "baton-messaging 0.3.0"),
        ),
    ],
)
def test_the_one_that_differs_from_most_is_named(wiring: dict[str, Any], expected: tuple[str, str, str]) -> None:
    aspect, here, there = expected
    assert told(process("a"), process("odd", **wiring), process("b")) == [(aspect, ["odd"], here, there)]


def test_one_server_by_two_names_is_one_server() -> None:
    assert told(process("a"), process("b", broker={"address": "10.0.0.5:6379/0", "id": "run1/0"})) == []


def test_what_is_not_known_differs_from_nothing() -> None:
    assert told(process("a"), process("b", broker={"address": "elsewhere:1/0", "id": ""}, keys={}, storage={})) == []


def test_a_process_that_works_with_no_storage_may_see_another_one() -> None:
    elsewhere = {"exports": "s2"}
    others = [process("a"), process("b"), process("web", role="web")]
    relay = replace(process("relay", role="relay", storage=elsewhere), queues=())
    mails = replace(process("mails", storage=elsewhere), queues=("mails",))
    assert told(*others, relay, mails) == []
    assert [odd for _aspect, odd, *_rest in told(*others, process("web2", role="web", storage=elsewhere))] == [["web2"]]


def test_a_server_that_has_just_restarted_is_no_other_server() -> None:
    """One process has seen its new id, the other has not looked yet."""
    seen = replace(process("a", broker={**BROKER, "id": "run2/0"}), wired_at=NOW, checked_at=NOW)
    not_yet = replace(process("b"), checked_at=NOW - timedelta(seconds=20))
    assert told(seen, not_yet) == []
    later = NOW + timedelta(seconds=40)
    both = [replace(seen, checked_at=later), replace(not_yet, checked_at=later)]
    assert [aspect for aspect, *_rest in told(*both)] == ["broker"]


def test_of_two_that_are_equally_many_both_are_named_and_the_older_is_usual() -> None:
    old, new = process("old", minutes=60), process("new", minutes=5, keys={"signs": "k2", "accepts": ["k2"]})
    (one,) = differences([new, old])
    assert one.is_tie
    assert ([odd.name for odd in one.odd], [usual.name for usual in one.usual]) == (["new"], ["old"])
    assert one.since == NOW - timedelta(minutes=5)


@pytest.mark.parametrize(
    ("old_accepts", "is_found"),
    [
        (["k1"], True),  # the new key came at once: what is signed with it dies in the old process
        (["k1", "k2"], False),  # first accepted everywhere, then used
    ],
)
def test_while_keys_rotate_each_must_accept_both(old_accepts: list[str], *, is_found: bool) -> None:
    old = process("old", keys={"signs": "k1", "accepts": old_accepts})
    new = process("new", keys={"signs": "k2", "accepts": ["k1", "k2"]})
    assert bool(told(old, new)) is is_found


@pytest.mark.parametrize(("minutes", "is_rollout"), [(3, True), (15, False)])
def test_another_release_is_a_finding_only_when_it_stays(minutes: float, *, is_rollout: bool) -> None:
    """Counted from the later of both: at first the old ones are many, then they are few."""
    newer = {**RELEASE, "project": "1.1"}
    many, one = [process("a"), process("b")], process("new", minutes=minutes, release=newer)
    assert [found.is_rollout for found in differences([*many, one])] == [is_rollout]
    few, most = (
        process("a"),
        [process("x", minutes=minutes, release=newer), process("y", minutes=minutes, release=newer)],
    )
    assert [found.is_rollout for found in differences([few, *most])] == [is_rollout]


def test_two_folders_are_two_storages(tmp_path: Path) -> None:
    def seen(folder: str) -> dict[str, str]:
        return wiring.storage([storage_health("exports", FileSystemStorage(tmp_path / folder)).as_dict()])

    assert seen("one")["exports"]
    assert seen("one") == seen("one") != seen("another")


def test_a_key_cannot_be_had_from_its_fingerprint() -> None:
    keys = [wiring.key_fingerprint(key) for key in ("secret one", "secret two", "secret one")]
    assert keys[0] == keys[2] != keys[1]
    assert all(len(key) == 8 and "secret" not in key for key in keys)


def test_a_worker_that_hands_its_mails_in_nowhere_differs_from_those_that_name_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wired, "checks_of", lambda name: ("mail",) if name == "sample.take_one" else ())
    files, server = {"backend": "config.mail.Files", "server": ""}, {"backend": "smtp", "server": "mail:25"}
    assert told(process("a", mail=server), process("odd", mail=files)) == [
        ("mail", ["odd"], "backend config.mail.Files, server -", "backend smtp, server mail:25")
    ]
    assert told(process("a", mail=files), process("b", mail=files)) == []
    web = replace(process("web", role="web", mail=files), queues=())
    assert told(web, process("a", mail=server), process("b", mail=server)) == []
