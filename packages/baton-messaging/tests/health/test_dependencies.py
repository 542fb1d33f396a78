"""A consumer names what it depends on, and so is not blamed for it."""

from collections.abc import Callable

import pytest
from baton_messaging.diagnosis.doctor.examine import folded
from baton_messaging.health.causes import fold
from baton_messaging.health.dependencies import checks_of, needs_of_consumers
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing import subscriptions
from baton_messaging.routing.discovery import Registry
from baton_messaging.routing.subscriptions import Subscription, subscribe

CONSUMER = Resource(Kind.CONSUMER, "mails.send")


@pytest.fixture(autouse=True)
def _depending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "_subscriptions", Registry[str, Subscription]("tasks"))
    subscribe(Subscription("mails.send", "x.y", 1, 8, "mails.slow", depends_on=("mail", "database")))


def test_consumer_needs_its_queue_and_what_it_names() -> None:
    assert [str(one) for one in needs_of_consumers()[CONSUMER]] == ["queue mails.slow", "service mail", "database"]
    assert checks_of("mails.send") == ("mail", "database")
    assert checks_of("of.nobody") == ()


@pytest.mark.parametrize(
    "fold_them",
    [lambda found: fold(found, needs_of_consumers()), lambda found: folded([], found)],
    ids=["by themselves", "in the doctor"],
)
def test_what_it_depends_on_explains_its_failures(fold_them: Callable[[list[Diagnosis]], list[Diagnosis]]) -> None:
    failing = Diagnosis(CONSUMER, "consumer", Status.FINDING, "circuit open")
    mail = Diagnosis(Resource(Kind.SERVICE, "mail"), "mail", Status.FINDING, "421 too busy", stops_work=True)

    (cause,) = fold_them([failing, mail])

    assert (cause.about, cause.victims) == (mail.about, (failing,))
