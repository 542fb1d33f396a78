"""Every verdict, from facts alone."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest
from baton_messaging.conf import Team
from baton_messaging.diagnosis.triage.delivery_facts import Failed, Held, Sighting, Work
from baton_messaging.diagnosis.triage.facts import Facts, QueueSnapshot, Reach
from baton_messaging.diagnosis.triage.judge import judge
from baton_messaging.diagnosis.triage.verdict import State, Verdict
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status
from baton_messaging.health.resource import DATABASE, Kind, Resource
from baton_messaging.recovery.findings import Contradiction

from tests.diagnosis.triage.world import (
    AGAIN,
    AGAIN_IN_QUEUE,
    AMONG_OTHERS,
    BEAT,
    CARE,
    COLLECTOR,
    DONE,
    EMPTY,
    FAILED,
    HOUSEKEEPER,
    NOW,
    OLD,
    OPEN,
    ORDER,
    PLATFORM,
    RELAY,
    SENT,
    SHOP,
    SILENT,
    UNCOLLECTED,
    UNSENT,
    WORKER,
    ago,
    delivery,
    facts,
    hand,
    process,
)

AWAY = Reach(False, "ConnectionError")
PAUSE = Held(ago(90), by="ann", why="the server moves", resume="mail.send")
CIRCUIT = Held(ago(90), error_class="MailUnavailable", next_probe_at=NOW)
IN_QUEUE, TAKEN = Sighting("queue", 214), Sighting("taken")
DUE = replace(FAILED, due_at=ago(1))
RUNNING = Work("running", "10 / 90", "bulk@host", ago(30), NOW + timedelta(seconds=9))
LEASE_OVER = replace(RUNNING, lease_expires_at=ago(3))

Case = tuple[str, Facts, State, Team, str, bool]
CASES: list[Case] = [
    ("done", facts(delivery(processed=DONE)), State.DONE, CARE, "nothing", False),
    (
        "done, though not marked as sent",
        facts(delivery(published=UNSENT, processed=DONE)),
        State.DONE,
        CARE,
        "nothing",
        False,
    ),
    (
        "relay at work",
        facts(delivery(published=replace(UNSENT, ahead_count=9))),
        State.WAITING,
        PLATFORM,
        "wait",
        False,
    ),
    (
        "no relay",
        facts(delivery(published=UNSENT), without=(RELAY,)),
        State.RELAY_STALLED,
        PLATFORM,
        "start_relay",
        True,
    ),
    (
        "silent relay",
        facts(delivery(published=UNSENT), processes=(WORKER, process("relay", **SILENT))),
        State.RELAY_STALLED,
        PLATFORM,
        "start_relay",
        True,
    ),
    ("relay does nothing", facts(delivery(published=UNSENT)), State.RELAY_STALLED, PLATFORM, "start_relay", True),
    (
        "claimed by a relay that died",
        facts(delivery(published=replace(UNSENT, available_at=NOW + timedelta(seconds=20)))),
        State.WAITING,
        PLATFORM,
        "wait",
        False,
    ),
    (
        "broker away",
        facts(delivery(published=UNSENT), broker=AWAY),
        State.RELAY_STALLED,
        PLATFORM,
        "restart_broker",
        True,
    ),
    (
        "broker full",
        facts(delivery(published=UNSENT), is_broker_full=True),
        State.RELAY_STALLED,
        PLATFORM,
        "enlarge_broker",
        True,
    ),
    (
        "queue full",
        facts(delivery(published=replace(UNSENT, refusal="queue full: x"))),
        State.RELAY_STALLED,
        PLATFORM,  # of which no length is declared
        "remedy",
        True,
    ),
    (
        "declared otherwise",
        facts(delivery(published=replace(UNSENT, refusal="406. Run: python manage.py migrate_queue mail"))),
        State.RELAY_STALLED,
        PLATFORM,
        "migrate_queue",
        True,
    ),
    (
        "refused otherwise",
        facts(delivery(published=replace(UNSENT, refusal="Expected a queue"))),
        State.RELAY_STALLED,
        PLATFORM,
        "read_refusal",
        True,
    ),
    ("paused in the outbox", facts(delivery(published=UNSENT, held=PAUSE)), State.HELD, CARE, "resume", True),
    (
        "paused, and no relay",
        facts(delivery(published=UNSENT, held=PAUSE), without=(RELAY,)),
        State.RELAY_STALLED,
        PLATFORM,
        "start_relay",
        True,
    ),
    ("paused in the queue", facts(delivery(held=PAUSE, seen=IN_QUEUE)), State.HELD, CARE, "resume", True),
    ("open circuit", facts(delivery(failed=DUE, held=CIRCUIT)), State.HELD, CARE, "mend_dependency", False),
    (
        "probe, running",
        facts(delivery(held=CIRCUIT, in_flight=hand())),
        State.RUNNING,
        CARE,
        "wait",
        False,
    ),
    ("retrying", facts(delivery(failed=FAILED)), State.RETRYING, CARE, "wait_until", False),
    ("retry due", facts(delivery(failed=DUE)), State.RETRYING, CARE, "wait", False),
    (
        "retry long due",
        facts(delivery(failed=replace(FAILED, due_at=ago(400)))),
        State.RELAY_STALLED,
        PLATFORM,
        "start_relay",
        True,
    ),
    (
        "circuit long open",
        facts(delivery(failed=DUE, held=replace(CIRCUIT, since=ago(1_000)))),
        State.HELD,
        CARE,
        "mend_dependency",
        True,
    ),
    (
        "retry due, no relay",
        facts(delivery(failed=DUE), without=(RELAY,)),
        State.RELAY_STALLED,
        PLATFORM,
        "start_relay",
        True,
    ),
    ("retry under way", facts(delivery(failed=AGAIN, seen=IN_QUEUE)), State.QUEUED, CARE, "wait", False),
    ("queued", facts(delivery(seen=IN_QUEUE)), State.QUEUED, CARE, "wait", False),
    ("sent, not marked", facts(delivery(published=UNSENT, seen=IN_QUEUE)), State.QUEUED, CARE, "wait", False),
    ("taken", facts(delivery(seen=TAKEN)), State.QUEUED, CARE, "wait", False),
    ("taken and not begun", facts(delivery(in_flight=hand(since=None))), State.QUEUED, CARE, "wait", False),
    ("running", facts(delivery(seen=TAKEN, in_flight=hand())), State.RUNNING, CARE, "wait", False),
    ("running too long", facts(delivery(in_flight=hand(since=90))), State.RUNNING, CARE, "restart_worker", True),
    ("no worker", facts(delivery(seen=IN_QUEUE), without=(WORKER,)), State.NOBODY_CONSUMES, CARE, "start_worker", True),
    (
        "silent worker has it",
        facts(
            delivery(seen=TAKEN, in_flight=hand(process("worker", **SILENT))), processes=(process("worker", **SILENT),)
        ),
        State.NOBODY_CONSUMES,
        CARE,
        "restart_worker",
        True,
    ),
    (
        "worker takes nothing",
        facts(delivery(seen=IN_QUEUE), processes=(process("worker", is_consuming=False),)),
        State.NOBODY_CONSUMES,
        CARE,
        "restart_worker",
        True,
    ),
    ("position not known", facts(delivery(), queues={"mail": QueueSnapshot(214)}), State.QUEUED, CARE, "wait", False),
    ("lost", facts(delivery(published=OLD), queues=EMPTY), State.LOST, PLATFORM, "wait_for_reconciler", False),
    ("lost a moment ago", facts(delivery(), queues=EMPTY), State.LOST, PLATFORM, "wait_for_grace", False),
    (
        "lost among others",
        facts(delivery(published=OLD), queues=AMONG_OTHERS),
        State.LOST,
        PLATFORM,
        "wait_for_queue",
        False,
    ),
    (
        "lost among others, no worker",
        facts(delivery(published=OLD), queues=AMONG_OTHERS, without=(WORKER,)),
        State.NOBODY_CONSUMES,
        CARE,
        "start_worker",
        True,
    ),
    (
        "lost and overtaken",
        facts(delivery(published=OLD), queues={"mail": replace(AMONG_OTHERS["mail"], served_until=ago(200))}),
        State.LOST,
        PLATFORM,
        "wait_for_reconciler",
        False,
    ),
    (
        "lost, dead letters uncollected",
        facts(delivery(published=OLD), queues={**EMPTY, **UNCOLLECTED}),
        State.LOST,
        PLATFORM,
        "wait_for_collector",
        False,
    ),
    (
        "lost, dead letters uncollected, no collector",
        facts(delivery(published=OLD), queues={**EMPTY, **UNCOLLECTED}, without=(COLLECTOR,)),
        State.LOST,
        PLATFORM,
        "start_collector",
        True,
    ),
    (
        "lost, broker full",
        facts(delivery(published=OLD), queues=EMPTY, is_broker_full=True),
        State.LOST,
        PLATFORM,
        "enlarge_broker",
        True,
    ),
    ("lost, no beat", facts(delivery(), queues=EMPTY, without=(BEAT,)), State.LOST, PLATFORM, "start_beat", True),
    (
        "lost, nobody to reconcile",
        facts(delivery(), queues=EMPTY, without=(HOUSEKEEPER,)),
        State.LOST,
        PLATFORM,
        "start_worker",
        True,
    ),
    (
        "lost, no worker",
        facts(delivery(published=OLD), queues=EMPTY, without=(WORKER,)),
        State.LOST,
        PLATFORM,
        "wait_for_reconciler",
        False,
    ),
    (
        "sent just now",
        facts(delivery(published=replace(SENT, published_at=ago(1))), queues=EMPTY),
        State.QUEUED,
        CARE,
        "wait",
        False,
    ),
    (
        "broker away, published",
        facts(delivery(), broker=AWAY, queues={}),
        State.UNKNOWN,
        PLATFORM,
        "restart_broker",
        True,
    ),
    (
        "broker away, running",
        facts(delivery(in_flight=hand()), broker=AWAY, queues={}),
        State.RUNNING,
        CARE,
        "wait",
        False,
    ),
    ("broker away, dead", facts(delivery(dead_letter=OPEN), broker=AWAY, queues={}), State.DEAD, CARE, "replay", True),
    ("dead", facts(delivery(failed=AGAIN, dead_letter=OPEN)), State.DEAD, CARE, "replay", True),
    ("discarded", facts(delivery(dead_letter=replace(OPEN, state="discarded"))), State.DEAD, CARE, "decided", False),
    (
        "replay planned",
        facts(delivery(dead_letter=replace(OPEN, state="requested"))),
        State.HELD,
        CARE,
        "wait_for_canary",
        False,
    ),
    (
        "replayed, failing again",
        facts(delivery(dead_letter=replace(OPEN, state="requested", requested_at=ago(3)), failed=FAILED)),
        State.RETRYING,
        CARE,
        "wait_until",
        False,
    ),
    ("not collected", facts(delivery(seen=Sighting("dead letters", 0))), State.DEAD, CARE, "wait", True),
    (
        "no collector",
        facts(delivery(seen=Sighting("dead letters", 0)), without=(COLLECTOR,)),
        State.DEAD,
        PLATFORM,
        "start_collector",
        True,
    ),
    ("work runs", facts(delivery(seen=TAKEN, work=RUNNING)), State.RUNNING, CARE, "wait", False),
    (
        "work failed",
        facts(delivery(processed=DONE, work=Work("failed", "storage"))),
        State.DEAD,
        CARE,
        "repeat_work",
        True,
    ),
    ("work abandoned", facts(delivery(seen=TAKEN, work=LEASE_OVER)), State.RETRYING, CARE, "wait", False),
    (
        "work abandoned, no worker",
        facts(delivery(seen=TAKEN, work=LEASE_OVER), without=(WORKER,)),
        State.NOBODY_CONSUMES,
        CARE,
        "start_worker",
        True,
    ),
    (
        "work abandoned, no beat",
        facts(delivery(seen=TAKEN, work=LEASE_OVER), without=(BEAT,)),
        State.RETRYING,
        PLATFORM,
        "start_beat",
        True,
    ),
    ("pruned", facts(delivery(published=None)), State.UNKNOWN, CARE, "mend_too_old_to_tell", True),
    ("database away", facts(database=Reach(False, "Timeout")), State.UNKNOWN, PLATFORM, "ask_again", True),
    (
        "never heard of",
        facts(subjects=(), events=frozenset()),
        State.NOT_PUBLISHED,
        PLATFORM,
        "mend_never_heard_of",
        True,
    ),
    ("row without message", facts(events=frozenset()), State.NOT_PUBLISHED, SHOP, "mend_row_without_message", True),
    (
        "settled long ago",
        facts(events=frozenset(), subjects=(replace(ORDER, created_at=ago(90_000), is_settled=True),)),
        State.DONE,
        SHOP,
        "nothing",
        False,
    ),
    (
        "too old to tell",
        facts(events=frozenset(), subjects=(replace(ORDER, created_at=ago(90_000)),)),
        State.UNKNOWN,
        SHOP,
        "mend_too_old_to_tell",
        True,
    ),
    (
        "row gone",
        facts(delivery(processed=DONE), subjects=(replace(ORDER, exists=False),)),
        State.ROW_GONE,
        SHOP,
        "mend_row_was_deleted",
        True,
    ),
]


@pytest.fixture(autouse=True)
def _grace_of_a_minute(settings: Any) -> None:
    settings.BATON = {**settings.BATON, "RECONCILE_GRACE_SECONDS": 60}


def first(world: Facts) -> Verdict:
    return judge(world)[0]


@pytest.mark.parametrize(
    ("world", "state", "owner", "step", "needs_person"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_fault_has_one_verdict_and_one_owner(
    world: Facts, state: State, owner: Team, step: str, needs_person: bool
) -> None:
    verdict = first(world)
    assert (verdict.state, verdict.owner, verdict.step.code, verdict.needs_person) == (state, owner, step, needs_person)


def test_an_answer_that_was_never_published_is_the_publishers() -> None:
    verdicts = judge(facts(delivery(processed=DONE)))
    assert [verdict.state for verdict in verdicts] == [State.DONE]
    long_done = replace(DONE, processed_at=ago(20))
    row, message = judge(facts(delivery(processed=long_done)))
    assert (row.state, row.owner, message.state) == (State.NOT_PUBLISHED, CARE, State.DONE)
    assert len(judge(facts(delivery(processed=long_done), events=frozenset({*facts().events, "stock.reserved"})))) == 1


def test_on_rabbitmq_a_message_is_lost_only_when_every_consumer_has_said_that_it_has_none() -> None:
    empty = {"mail": QueueSnapshot(0, consumer_count=1)}
    assert first(facts(delivery(), queues=empty)).state == State.LOST
    waiting = {"mail": QueueSnapshot(1, consumer_count=1)}
    assert first(facts(delivery(), queues=waiting)).state == State.QUEUED
    stranger = {"mail": QueueSnapshot(0, consumer_count=2)}
    assert first(facts(delivery(), queues=stranger)).state == State.ELSEWHERE  # the known one has said that it has none
    nobody = first(facts(delivery(), queues={"mail": QueueSnapshot(1, consumer_count=0)}))
    assert (nobody.state, nobody.owner) == (State.NOBODY_CONSUMES, CARE)
    given_up = {**empty, "dead_letters": QueueSnapshot(2, consumer_count=0)}
    doubt = first(facts(delivery(), queues=given_up, without=(COLLECTOR,)))
    assert (doubt.state, doubt.step.code) == (State.UNKNOWN, "start_collector")
    assert [line.code for line in doubt.open_questions] == ["is_it_given_up"]
    late = process("worker", beaten_at=ago(60))
    assert first(facts(delivery(), queues=empty, processes=(late, BEAT))).state == State.QUEUED


def test_on_rabbitmq_a_message_that_later_ones_have_overtaken_is_lost_among_those_that_wait() -> None:
    overtaken = {"mail": QueueSnapshot(214, consumer_count=1, served_until=ago(200))}
    verdict = first(facts(delivery(published=OLD), queues=overtaken))
    assert (verdict.state, verdict.owner, verdict.step.code) == (State.LOST, PLATFORM, "wait_for_reconciler")
    assert {"depth", "overtaken", "beat_alive"} <= {line.code for line in verdict.evidence}
    young = {"mail": replace(overtaken["mail"], served_until=ago(270))}
    assert first(facts(delivery(published=OLD), queues=young)).state == State.QUEUED
    given_up = {**overtaken, "dead_letters": QueueSnapshot(2, consumer_count=0)}
    doubt = first(facts(delivery(published=OLD), queues=given_up))
    assert (doubt.state, doubt.step.code) == (State.UNKNOWN, "wait")


HUNG = Diagnosis(
    DATABASE, "commits", Status.FINDING, "the database takes no commits (SyncRep)", owner=PLATFORM, stops_work=True
)
MAIL = Resource(Kind.SERVICE, "mail")
MAIL_AWAY = Diagnosis(MAIL, "mail", Status.FINDING, "certificate has expired", owner=SHOP, stops_work=True)
TWO_BROKERS = Diagnosis(
    Resource(Kind.WIRING, "relay@host"),
    "broker",
    Status.FINDING,
    "relay and workers differ",
    owner=PLATFORM,
    stops_work=True,
)
OF_ANOTHER = replace(TWO_BROKERS, about=Resource(Kind.WIRING, "bulk@host"))
TWO_KEYS = replace(TWO_BROKERS, about=Resource(Kind.WIRING, "worker@host"))
GONE = delivery(published=replace(SENT, published_at=ago(0.5)))
FORGED = replace(OPEN, reason="bad_signature")
MAIL_NEEDS = {Resource(Kind.CONSUMER, "mail.send"): (MAIL,)}
CUT_OFF = replace(TWO_BROKERS, about=Resource(Kind.PROCESS, "relay@host"))
ONE_RELAY = {Resource(Kind.ROLE, "relay"): (CUT_OFF.about,)}
INTO_FILES = replace(TWO_KEYS, concerns=(MAIL,), stops_work=False)
SILENT_ALL = (process("relay", **SILENT), process("worker", **SILENT), BEAT)


@pytest.mark.parametrize(
    ("world", "state", "owner", "cause"),
    [
        (facts(delivery(published=UNSENT), processes=SILENT_ALL, causes=(HUNG,)), State.WAITING, PLATFORM, HUNG),
        (facts(delivery(seen=IN_QUEUE), processes=SILENT_ALL, causes=(HUNG,)), State.QUEUED, PLATFORM, HUNG),
        (facts(delivery(failed=FAILED), causes=(MAIL_AWAY,), needs=MAIL_NEEDS), State.RETRYING, SHOP, MAIL_AWAY),
        (facts(delivery(in_flight=hand()), causes=(MAIL_AWAY,), needs=MAIL_NEEDS), State.RUNNING, SHOP, MAIL_AWAY),
        (facts(delivery(failed=FAILED), causes=(MAIL_AWAY,)), State.RETRYING, CARE, None),
        (facts(delivery(published=OLD), queues=EMPTY, causes=(TWO_BROKERS,)), State.ELSEWHERE, PLATFORM, TWO_BROKERS),
        (facts(delivery(seen=IN_QUEUE), causes=(TWO_BROKERS,)), State.QUEUED, PLATFORM, TWO_BROKERS),
        (facts(delivery(seen=IN_QUEUE), causes=(OF_ANOTHER,)), State.QUEUED, CARE, None),
        (facts(delivery(published=OLD), queues=EMPTY, causes=(OF_ANOTHER,)), State.ELSEWHERE, PLATFORM, OF_ANOTHER),
        (facts(delivery(dead_letter=FORGED), causes=(TWO_KEYS,)), State.DEAD, PLATFORM, TWO_KEYS),
        (facts(delivery(), queues=EMPTY, causes=(OF_ANOTHER,)), State.ELSEWHERE, PLATFORM, OF_ANOTHER),
        (facts(GONE, queues=EMPTY, causes=(OF_ANOTHER,)), State.ELSEWHERE, PLATFORM, OF_ANOTHER),
        (facts(GONE, queues=EMPTY), State.QUEUED, CARE, None),
        (facts(delivery(in_flight=hand()), queues=EMPTY, causes=(OF_ANOTHER,)), State.RUNNING, CARE, None),
        (facts(delivery(processed=DONE), causes=(HUNG, TWO_BROKERS)), State.DONE, CARE, None),
        (facts(delivery(held=PAUSE, seen=IN_QUEUE), causes=(HUNG,)), State.HELD, CARE, None),
        (facts(delivery(published=UNSENT), causes=(CUT_OFF,), needs=ONE_RELAY), State.RELAY_STALLED, PLATFORM, CUT_OFF),
        (facts(delivery(processed=DONE), causes=(INTO_FILES,), needs=MAIL_NEEDS), State.DONE, PLATFORM, INTO_FILES),
    ],
)  # fmt: skip
def test_a_cause_takes_the_blame_from_its_victims(
    world: Facts, state: State, owner: Team, cause: Diagnosis | None
) -> None:
    verdict = first(world)
    assert (verdict.state, verdict.owner, verdict.cause) == (state, owner, cause)
    assert verdict.needs_person == (cause is not None or verdict.state == State.HELD)


def test_an_error_of_the_server_that_the_consumer_names_is_the_platforms_before_any_check_has_said_so() -> None:
    failed = replace(FAILED, error_text="The mail server\nis away", is_transient=True)
    verdict = first(facts(delivery(failed=failed), needs=MAIL_NEEDS))
    assert (verdict.state, verdict.owner, verdict.confidence) == (State.RETRYING, PLATFORM, Confidence.LIKELY)
    assert verdict.cause
    assert str(verdict.cause.found) == "mail fails: The mail server is away"
    assert first(facts(delivery(failed=failed))).owner == CARE
    assert first(facts(delivery(failed=replace(failed, is_transient=False)), needs=MAIL_NEEDS)).owner == CARE


def test_what_is_sent_again_and_gone_again_is_taken_by_something_that_is_not_known_here() -> None:
    again = Failed(0, "LostByBroker", ago(300), ago(300), sent_at=ago(200))
    verdict = first(facts(delivery(published=OLD, failed=again), queues=EMPTY))
    assert (verdict.state, verdict.owner, verdict.step.code) == (State.ELSEWHERE, PLATFORM, "find_stranger")
    assert (verdict.needs_person, verdict.confidence) == (True, Confidence.OPEN)
    stranger = {"mail": QueueSnapshot(0, consumer_count=2)}
    verdict = first(facts(delivery(published=OLD), queues=stranger))
    assert (verdict.state, verdict.step.code) == (State.ELSEWHERE, "find_stranger")


def test_what_is_lost_for_long_needs_a_person() -> None:
    long_ago = replace(OLD, published_at=ago(4_000))
    verdict = first(facts(delivery(published=long_ago), queues=EMPTY))
    assert (verdict.state, verdict.step.code, verdict.needs_person) == (State.LOST, "run_reconciler", True)


def test_the_time_in_which_a_machine_stood_still_counts_against_no_limit() -> None:
    asleep = process("worker", stood_still_at=ago(10), stood_still_seconds=70)
    verdict = first(facts(delivery(in_flight=hand(asleep, since=90))))
    assert (verdict.state, verdict.step.code) == (State.RUNNING, "wait")
    assert "stood_still" in {line.code for line in verdict.evidence}
    before = process("worker", stood_still_at=ago(100), stood_still_seconds=70)
    assert first(facts(delivery(in_flight=hand(before, since=90)))).step.code == "restart_worker"


def test_a_worker_that_has_just_started_is_not_told_to_restart() -> None:
    starting = process("worker", is_consuming=False, started_at=ago(4))
    verdict = first(facts(delivery(seen=IN_QUEUE), processes=(starting,)))
    assert (verdict.state, verdict.step.code, verdict.needs_person) == (State.QUEUED, "wait", False)
    connecting = process("worker", started_at=ago(4))
    queues = {"mail": QueueSnapshot(1, consumer_count=0)}
    assert first(facts(delivery(), processes=(connecting, BEAT), queues=queues)).state == State.QUEUED


def test_of_workers_that_were_killed_the_last_one_is_named() -> None:
    killed = (process("worker", name="a@host", **SILENT), process("worker", is_fresh=False, beaten_at=ago(660)))
    verdict = first(facts(delivery(seen=IN_QUEUE), processes=killed))
    assert (verdict.state, verdict.step.code) == (State.NOBODY_CONSUMES, "start_worker_again")
    assert verdict.detail is not None
    assert verdict.detail.values["name"] == "a@host"


def test_of_workers_that_were_stopped_the_last_one_is_named_with_its_end() -> None:
    stopped = process("worker", is_consuming=False, is_fresh=False, ended_at=ago(30), ended_by="SIGTERM")
    killed = process("worker", name="a@host", **SILENT)
    verdict = first(facts(delivery(seen=IN_QUEUE), processes=(killed,), ended=(stopped,)))
    assert (verdict.state, verdict.step.code) == (State.NOBODY_CONSUMES, "start_worker")
    assert verdict.detail is not None
    assert verdict.detail.values["by"] == "SIGTERM"


def test_the_evidence_tells_the_whole_way_in_order() -> None:
    verdict = first(facts(delivery(**AGAIN_IN_QUEUE)))
    codes = [line.code for line in verdict.evidence]
    assert codes == ["published", "failed", "sent_again", "ahead", "given_back", "consumed", "last_finished"]


def test_open_questions_are_named_and_the_rest_is_answered() -> None:
    verdict = first(facts(delivery(), broker=AWAY, queues={}))
    assert [line.code for line in verdict.open_questions] == ["where_in_the_broker"]
    assert [line.code for line in verdict.evidence] == ["published", "broker_silent", "consumed", "last_finished"]


def test_wrong_clocks_are_told_of() -> None:
    ahead = replace(SENT, occurred_at=NOW + timedelta(hours=1))
    far = Failed(1, "E", ago(5), NOW + timedelta(hours=1))
    codes = [line.code for line in first(facts(delivery(published=ahead, failed=far))).evidence]
    assert {"producer_clock", "worker_clock"} <= set(codes)


def test_done_is_not_believed_when_an_effect_is_missing() -> None:
    missing = Contradiction(
        Resource(Kind.DATA, "files"), "no file", Status.FINDING, "1: 42", remedy="look", owner=PLATFORM
    )
    settled = replace(ORDER, is_settled=True)
    row, message = judge(facts(delivery(processed=DONE), subjects=(settled,), contradictions=(missing,)))
    assert (row.state, row.owner, row.step.values, row.needs_person) == (State.DONE, PLATFORM, {"remedy": "look"}, True)
    assert (message.state, message.needs_person) == (State.DONE, False)
    under_way = judge(facts(delivery(seen=IN_QUEUE), subjects=(settled,), contradictions=(missing,)))
    assert [verdict.state for verdict in under_way] == [State.QUEUED]
    done = delivery(processed=DONE)
    of_consumer = replace(missing, consumers=(done.consumer,))
    (only,) = judge(facts(done, subjects=(settled,), contradictions=(of_consumer,)))
    assert (only.state, only.owner, only.consumer, only.needs_person) == (State.DONE, PLATFORM, done.consumer, True)


#: What is proved: by a row, by the broker's own words or count, or by whoever does it himself. All else is inferred.
PROVED: Final = frozenset(
    {
        "relay at work",
        "claimed by a relay that died",
        "broker away",
        "broker full",
        "paused in the outbox",
        "paused in the queue",
        "probe, running",
        "retrying",
        "retry under way",
        "queued",
        "sent, not marked",
        "taken",
        "running",
        "broker away, running",
        "discarded",
        "replay planned",
        "replayed, failing again",
        "not collected",
        "work runs",
    }
)


def test_nothing_that_is_inferred_is_called_sure() -> None:
    sure = {name for name, world, *_ in CASES if any(one.confidence is Confidence.SURE for one in judge(world))}
    assert sure == PROVED


def test_a_signature_that_no_key_of_the_running_processes_made_is_of_a_former_key_or_forged() -> None:
    relay = replace(RELAY, started_at=ago(30))
    verdict = first(facts(delivery(dead_letter=FORGED), processes=(WORKER, relay, BEAT)))
    assert (verdict.state, verdict.owner.email) == (State.DEAD, PLATFORM.email)
    assert verdict.confidence is Confidence.LIKELY
    assert "DJANGO_SECRET_KEY_FALLBACKS" in str(verdict.step.values["remedy"])


def test_what_a_relay_signed_that_still_runs_is_only_to_be_sent_again() -> None:
    relay = replace(RELAY, started_at=ago(90))
    verdict = first(facts(delivery(dead_letter=FORGED), processes=(WORKER, relay, BEAT)))
    assert (verdict.owner, verdict.step.code, verdict.confidence) == (CARE, "replay_signed_anew", Confidence.LIKELY)


def test_work_that_failed_on_a_server_is_the_servers_not_its_askers() -> None:
    failed = Work("failed", "storage", "bulk@host", service="exports")
    verdict = first(facts(delivery(processed=DONE, work=failed)))
    assert (verdict.state, verdict.owner, verdict.confidence) == (State.DEAD, PLATFORM, Confidence.LIKELY)
    itself = first(facts(delivery(processed=DONE, work=replace(failed, service=""))))
    assert (itself.state, itself.owner) == (State.DEAD, CARE)
