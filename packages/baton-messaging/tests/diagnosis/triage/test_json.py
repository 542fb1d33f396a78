"""What scripts get: the same in the command's JSON and in the API."""

from baton_messaging.diagnosis.triage.report import report
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import DATABASE, Kind, Resource
from baton_messaging.ui.api.triage import TriageOut

from tests.diagnosis.triage.world import PLATFORM, UNSENT, delivery, facts

WAITING = Diagnosis(Resource(Kind.ROLE, "relay"), "relay", Status.FINDING, "silent")
HUNG = Diagnosis(
    DATABASE,
    "commits",
    Status.FINDING,
    "the database takes no commits",
    remedy="Start the standby.",
    command="pg_ctl start",
    owner=PLATFORM,
    stops_work=True,
    victims=(WAITING,),
)


def test_the_cause_is_told_with_its_victims() -> None:
    told = report("42", facts(delivery(published=UNSENT), without=(), causes=(HUNG,))).as_dict()
    answered = TriageOut.model_validate(told).model_dump(mode="json")
    (verdict,) = answered["verdicts"]
    assert (verdict["state"], verdict["owner_name"], verdict["confidence"]) == (
        "waiting for the relay",
        "Platform",
        "sure",
    )
    assert verdict["cause"] == {
        "about": "database",
        "what": "commits",
        "found": "the database takes no commits",
        "owner": "Platform <platform@example.com>",
        "since": None,
        "victims": ["role relay"],
    }
    assert verdict["next_step"] == {"text": "Start the standby.", "command": "pg_ctl start", "url": ""}
    assert "the same keeps 1 others from their work: relay" in verdict["evidence"]
