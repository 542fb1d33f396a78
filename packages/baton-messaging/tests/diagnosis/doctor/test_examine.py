"""Nothing hangs, nothing stops the others, no secret is printed."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.deadline import within
from baton_dev.testing.processes import manage_command, process_environment
from baton_messaging.conf import Team
from baton_messaging.diagnosis.doctor import examine
from baton_messaging.diagnosis.doctor.examination import examines
from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.diagnosis.rendering import as_json, as_text
from baton_messaging.health.diagnosis import Diagnosis, Status, observed
from baton_messaging.models import Heartbeat
from django.core.management import call_command
from django.db import connection

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("living", "longer_deadlines")]

SHOP = Team("Shop team", "a@b.c")
ALL_IS_WELL = observed(True, "extra", found="well", wanted="well", remedy="")


@pytest.fixture
def extra(longer_deadlines: None) -> Callable[..., Any]:
    """Return a function that adds an examination for one test, whose register it is."""
    return examines("extra", deadline_seconds=15)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Return a port where a connection is accepted and nothing is ever said, as by a process under SIGSTOP."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        yield server.getsockname()[1]


def test_in_a_sound_installation_there_is_nothing_to_do() -> None:
    lines = examine_all()
    assert [line for line in lines if line.status is not Status.OK] == []
    assert len(lines) > 20


def test_a_broker_that_says_nothing_costs_a_deadline_and_hides_nothing_else(
    silent_port: int, broker_url: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examine, "SERVERS_SECONDS", 3.5)  # a busy machine needs longer to accuse a server
    broker_url(f"redis://:s3cr3t-word@127.0.0.1:{silent_port}/0")
    lines = {str(line.what): line for line in examine_all()}
    cause = lines["broker"]
    assert (cause.status, cause.stops_work) == (Status.FINDING, True)
    assert "no answer" in str(cause.found) or "Timeout" in str(cause.found)
    victims = {str(victim.what): str(victim.found) for victim in cause.victims}
    assert victims["declaration of the queues"] == "not asked: no answer from the broker"
    assert lines["relay"].status is Status.OK
    assert lines["size of outbox messages"].status is Status.OK


def test_a_broker_that_is_stopped_is_the_cause_and_nobody_is_told_to_restart(
    broker_url: Callable[[str], None],
) -> None:
    Heartbeat.objects.update(is_consuming=False)  # they have no broker either
    broker_url("redis://127.0.0.1:1/0")
    by_settings = "system checks"  # which object to the address that this test has made up
    findings = [line for line in examine_all() if line.status is not Status.OK and str(line.what) != by_settings]
    assert [str(line.what) for line in findings] == ["broker"]
    (cause,) = findings
    assert str(cause.found).startswith("the broker does not answer: nothing listens at its address (127.0.0.1:1/0: ")
    assert "refused" in str(cause.found)
    assert {"relay", "collector", "workers of parcels"} <= {str(victim.what) for victim in cause.victims}
    text = as_text(findings, width=None)
    assert "Restart" not in text
    assert "waits:  " in text
    assert "certain:sure" in text


def test_an_examination_that_hangs_or_fails_stops_no_other(extra: Callable[..., None]) -> None:
    def hang() -> Iterator[Diagnosis]:
        time.sleep(60)
        yield ALL_IS_WELL

    examines("extra", deadline_seconds=0.5)(hang)
    lines = {line.what: line for line in examine_all()}
    assert (lines["extra"].status, lines["extra"].found) == (Status.UNKNOWN, "no answer within 0.5 s")
    assert lines["database"].status is Status.OK

    def fail() -> Iterator[Diagnosis]:
        yield ALL_IS_WELL
        raise RuntimeError("a bug in the examination")

    extra(fail)
    lines = {line.what: line for line in examine_all()}
    assert lines["extra"].found == "RuntimeError: a bug in the examination"
    assert lines["database"].status is Status.OK


def test_whatever_hangs_the_answer_is_there_within_six_seconds(
    silent_port: int,
    broker_url: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    extra: Callable[..., None],
) -> None:
    ended = threading.Event()

    def hang() -> Iterator[Diagnosis]:
        ended.wait(60)
        yield ALL_IS_WELL

    extra(hang)
    monkeypatch.setattr(examine, "SERVERS_SECONDS", 2.5)
    monkeypatch.setattr(examine, "TOTAL_SECONDS", 5.5)
    monkeypatch.setitem(connection.settings_dict, "PORT", str(silent_port))
    broker_url(f"redis://127.0.0.1:{silent_port}/0")
    try:
        lines = within(examine_all, seconds=6)
    finally:
        ended.set()
    told = {str(one.what): one for line in lines for one in (line, *line.victims)}
    assert told["extra"].status is Status.UNKNOWN
    assert "no answer" in str(told["extra"].found)
    assert "no answer" in str(told["migrations"].found)


def test_no_secret_is_printed_whatever_an_error_quotes(
    extra: Callable[..., None], settings: Any, broker_url: Callable[[str], None]
) -> None:
    settings.CELERY_BROKER_READ_URL = "sentinel://:br0ker%21@a:1;sentinel://:an0ther@b:2"
    settings.SECRET_KEY_FALLBACKS = ["a-former-key"]
    settings.STORAGES = {**settings.STORAGES, "far": {"OPTIONS": {"secret_key": "st0rage"}}}
    sentinel = {"sentinel_kwargs": {"password": "sent1nel"}}
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, **sentinel}
    settings.METRICS_TOKEN = "a-t0ken"
    settings.CACHES = {"default": {**settings.CACHES["default"], "OPTIONS": {"nodes": ["redis://:c4che@c:3"]}}}
    settings.SHOP_OF_A_NEIGHBOUR = {"credentials": {"user": "us3r"}, "Azure_Connection_String": "acc0unt"}
    secrets = ["br0ker%21", "br0ker!", "an0ther", "a-former-key", "st0rage", "sent1nel", settings.SECRET_KEY]
    secrets += ["a-t0ken", "c4che", "us3r", "acc0unt"]

    def quote() -> Iterator[Diagnosis]:
        yield ALL_IS_WELL
        raise RuntimeError(f"cannot log in with {' '.join(secrets)}")

    extra(quote)
    told = as_json(examine_all())
    assert "cannot log in with … … … … …" in told
    assert not [secret for secret in secrets if secret in told]


def test_what_is_no_secret_is_not_hidden(extra: Callable[..., None], settings: Any) -> None:
    settings.CELERY_TASK_ROUTES = {"a.task": {"queue": "sample", "routing_key": "sample"}}
    harmless = "sample auth.User http://shop.example.com/ PBKDF2PasswordHasher"
    extra(lambda: iter([replace(ALL_IS_WELL, found=harmless)]))
    assert harmless in as_json(examine_all())


def test_the_report_reads_as_a_table_and_is_not_cut() -> None:
    long = "a reason that goes on " * 20
    lines = [
        ALL_IS_WELL,
        observed(
            False, "a thing", found=long.strip(), wanted="better", remedy="Do it.", owner=Team("Shop team", "a@b.c")
        ),
    ]
    text = as_text(lines, width=None)
    assert text.splitlines()[0] == "ok       extra    well"
    assert long.strip() in text
    assert text.splitlines()[2:] == [
        "                  wanted: better",
        "                  do:     Do it.",
        "                  owner:  Shop team <a@b.c>",
        "                  certain:sure",
        "",
        "2 answers: 1 to be mended, 0 not known.",
    ]
    folded = as_text(lines, width=60)
    assert max(len(row) for row in folded.splitlines()) <= 60
    assert " ".join(folded.split()).count("a reason that goes on") == 20


def test_the_command_exits_1_on_a_finding_and_0_without(capsys: pytest.CaptureFixture[str], settings: Any) -> None:
    call_command("doctor", format="json")
    report = json.loads(capsys.readouterr().out)
    assert report["healthy"] is True
    assert set(report["lines"][0]) >= {"what", "verdict", "found", "wanted", "remedy", "owner"}
    settings.BATON = {**settings.BATON, "WEB_CONNECTION_COUNT": 100_000}
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    assert "FINDING  connections of the database" in capsys.readouterr().out


def test_a_database_that_is_away_leaves_the_other_questions_answered() -> None:
    """In a process of its own: pytest's keeps the database's address."""
    environment = {**process_environment(), "DATABASE_URL": "postgres://nobody:pa55word@127.0.0.1:1/none"}
    command = manage_command("doctor", "--format", "json", "--settings", "tests.settings")
    ended = subprocess.run(
        command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1, ended.stderr
    assert "pa55word" not in ended.stdout
    lines = {line["what"]: line for line in json.loads(ended.stdout)["lines"]}
    cause = lines["database"]
    assert (cause["verdict"], cause["owner"]) == ("finding", "Platform team <platform@example.com>")
    assert "refused" in cause["found"]
    victims = {victim["what"]: victim["found"] for victim in cause["victims"]}
    assert victims["outbox"] == "not asked: no answer from the database"
    assert lines["eviction policy of the broker"]["verdict"] == "ok"
