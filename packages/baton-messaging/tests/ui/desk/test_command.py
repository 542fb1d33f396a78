import io
import json
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.models import AuditEntry, DeadLetter
from baton_messaging.models.dead_letter import State
from django.core.management import CommandError, call_command

from tests.dead_letters.factories import a_letter, apply, letters

pytestmark = pytest.mark.django_db


def run(*words: object) -> str:
    out = io.StringIO()
    call_command("dead_letters", *[str(word) for word in words], stdout=out)
    return out.getvalue()


def run_json(*words: object) -> Any:
    return json.loads(run(*words, "--format", "json"))


def refusal_of(*words: object) -> CommandError:
    with pytest.raises(CommandError) as refusal:
        run(*words)
    return refusal.value


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_long_texts_are_cut_on_a_screen_and_whole_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "what went wrong, at length: " + "x" * 300
    a_letter(uuid4(), error_message=text)
    assert text in run("list")
    monkeypatch.setenv("COLUMNS", "150")
    screen = Screen()
    call_command("dead_letters", "list", stdout=screen)
    assert max(len(line) for line in screen.getvalue().splitlines()) <= 150
    assert "…" in screen.getvalue()


def test_the_list_is_a_table_and_json() -> None:
    letter = a_letter(uuid4())
    head, line = run("list").splitlines()
    assert head.split() == ["id", "died_at", "state", "reason", "consumer", "key", "error"]
    assert str(letter.pk) in line
    (found,) = run_json("list", "--state", "open", "--text", letter.key)
    assert found["message_id"] == str(letter.message_id)
    assert run("list", "--state", "resolved") == "None.\n"


def test_one_is_shown_with_its_envelope() -> None:
    letter = a_letter()
    assert "no such template" in run("show", letter.pk)
    assert run_json("show", letter.pk)["envelope"]["payload"]["behaviour"] == "ok"
    assert refusal_of("show", 0).returncode == 2


def test_a_replay_is_tried_started_and_followed() -> None:
    found = letters(3)
    apply(found[0])
    group = found[0].fingerprint
    assert "2 would be applied." in run("replay", "--group", group, "--dry-run")
    assert run_json("replay", "--group", group, "--dry-run")["is_applied"] == 1
    answer = run_json("replay", "--group", group, "--why", "repaired", "--canary", 2)
    assert (answer["resolved"], answer["under_way"], answer["held"]) == (1, 1, 1)
    entry = AuditEntry.objects.get()
    assert (entry.via, entry.why) == ("command", "repaired")
    assert run_json("stop", answer["replay"])["dead_letter_count"] == 2
    assert refusal_of("stop", answer["replay"]).returncode == 1


def test_a_replay_waits_until_nothing_is_on_its_way() -> None:
    letter = a_letter()
    apply(letter)
    assert "1 resolved, 0 on their way" in run("replay", letter.pk, "--wait")


def test_discard_and_restore() -> None:
    letter = a_letter()
    assert refusal_of("discard", letter.pk).returncode == 1
    assert run("discard", letter.pk, "--why", "test order") == "1 discarded.\n"
    assert run_json("restore", letter.pk) == {"dead_letter_count": 1}
    assert run_json("audit")[0]["action"] == "restore"


def test_an_edit_is_tried_and_sent() -> None:
    letter = a_letter(uuid4(), behaviour="permanent")
    payload = json.dumps({"sample_id": letter.key, "behaviour": "ok"})
    assert "permanent" in run("edit", letter.pk, "--payload", payload, "--dry-run")
    answer = run_json("edit", letter.pk, "--payload", payload, "--why", "wrong")
    assert DeadLetter.objects.get(pk=answer["copy"]).state == State.REQUESTED


def test_a_redirect() -> None:
    letter = a_letter(consumer="sample.old")
    assert run("redirect", letter.pk, "--to", "sample.die", "--why", "renamed") == "1 moved to sample.die.\n"


@pytest.mark.parametrize(
    "words",
    [
        ("replay",),
        ("discard", "--why", "x"),
        ("list", "--since", "soon"),
        ("list", "--state", "lost"),
        ("replay", "--canary", "-1"),
        ("list", "--limit", "x"),
        ("nonsense",),
        (),
    ],
)
def test_wrong_usage_is_exit_code_2_and_changes_nothing(words: tuple[str, ...]) -> None:
    a_letter()
    refusal = refusal_of(*words)
    assert refusal.returncode == 2 or "Error:" in str(refusal)  # argparse's own refusals end with 2 on a command line
    assert DeadLetter.objects.open().count() == 1


def test_groups_are_listed() -> None:
    letters(2, error_class="KeyError")
    a_letter(error_class="OSError")
    first, second = sorted(run_json("groups"), key=lambda group: group["open"])
    assert (first["open"], second["open"]) == (1, 2)
    assert "KeyError" in run("groups")
    assert len(run_json("list", "--group", second["group"])) == 2  # the beginning of its name will do
