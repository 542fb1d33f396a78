"""One cause, its victims under it: what only waits for somebody else is no finding of its own."""

from baton_messaging.health.causes import fold
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import BROKER, DATABASE, Kind, Resource

RELAY = Resource(Kind.ROLE, "relay")
QUEUE = Resource(Kind.QUEUE, "parcels")
MAIL = Resource(Kind.SERVICE, "mail")
SENDER = Resource(Kind.CONSUMER, "parcels.send_label")


def finding(about: Resource, *, stops_work: bool = False) -> Diagnosis:
    return Diagnosis(about, str(about), Status.FINDING, "not well", stops_work=stops_work)


def abouts(diagnoses: tuple[Diagnosis, ...] | list[Diagnosis]) -> list[Resource]:
    return [one.about for one in diagnoses]


def test_those_that_wait_for_the_database_stand_under_it() -> None:
    found = fold([finding(RELAY), finding(DATABASE, stops_work=True), finding(QUEUE)])
    assert abouts(found) == [DATABASE]
    assert abouts(found[0].victims) == [RELAY, QUEUE]


def test_a_finding_that_stops_no_work_explains_nothing() -> None:
    found = fold([finding(DATABASE), finding(RELAY)])
    assert abouts(found) == [DATABASE, RELAY]


def test_of_two_causes_the_one_nearest_to_the_ground_explains() -> None:
    found = fold([finding(BROKER, stops_work=True), finding(DATABASE, stops_work=True), finding(RELAY)])
    assert abouts(found) == [BROKER, DATABASE]
    assert abouts(found[1].victims) == [RELAY]


def test_a_service_explains_only_the_consumers_that_name_it() -> None:
    other = Resource(Kind.CONSUMER, "parcels.record")
    found = fold([finding(MAIL, stops_work=True), finding(SENDER), finding(other)], {SENDER: [MAIL]})
    assert abouts(found) == [MAIL, other]
    assert abouts(found[0].victims) == [SENDER]


def test_a_queue_without_workers_explains_its_own_consumers_only() -> None:
    other = Resource(Kind.CONSUMER, "parcels.record")
    found = fold([finding(QUEUE, stops_work=True), finding(SENDER), finding(other)], {SENDER: [QUEUE]})
    assert abouts(found) == [QUEUE, other]


def test_the_victims_of_a_victim_stand_under_the_cause_too() -> None:
    found = fold(
        [finding(SENDER), finding(QUEUE, stops_work=True), finding(BROKER, stops_work=True)], {SENDER: [QUEUE]}
    )
    assert abouts(found) == [BROKER]
    assert set(abouts(found[0].victims)) == {QUEUE, SENDER}


def test_what_is_well_is_nobodys_victim() -> None:
    well = Diagnosis(RELAY, "relay", Status.OK, "lives")
    assert abouts(fold([well, finding(DATABASE, stops_work=True)])) == [RELAY, DATABASE]
