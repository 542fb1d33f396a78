"""For each question of the design checklist: a consumer that breaks the rule is named, a right one is not."""

import re
from pathlib import Path

import pytest
from baton_messaging import checks
from baton_messaging.checks.objections import ANCHORS, PAGE
from baton_messaging.checks.publishing import check_publishing
from baton_messaging.conf import baton
from baton_messaging.routing.queues import celery_queues
from django.conf import settings
from django.core.checks import run_checks
from django.test import override_settings

from tests.checks.shipping import EVENTS, TASKS, celery_conf, objections, shipping


def with_options(options: str) -> str:
    return TASKS.replace("(LabelWanted)\ndef", f"(LabelWanted, {options})\ndef")


BAD = {
    "delay": ("E101", {"views": "from shipping.tasks import print_label\ndef view(r):\n    print_label.delay([])\n"}),
    "apply_async of an alias": (
        "E101",
        {"views": "from . import tasks as t\ndef view(r):\n    t.print_label.apply_async(args=[[]], countdown=5)\n"},
    ),
    "send_task by name": ("E101", {"views": "def view(app):\n    app.send_task('shipping.print_label')\n"}),
    "a plain call": ("E101", {"views": "from shipping import tasks\ndef view(r):\n    tasks.print_label([])\n"}),
    "a chain": (
        "E101",
        {"services": "def print_label(i):\n    from .tasks import print_label as p\n    return p.s([])\n"},
    ),
    "a kept result": ("E201", {"tasks": with_options("ignore_result=False")}),
    "a wait": ("E202", {"views": "def view(task):\n    return task.delay().get(timeout=5)\n"}),
    "a wait by name": (
        "E202",
        {"views": "def view(task):\n    answer = task.apply_async()\n    return answer.wait()\n"},
    ),
    "a failure let through": ("E202", {"views": "def view(answer):\n    return answer.get(propagate=True)\n"}),
    "no transaction": ("E301", {"tasks": with_options("atomic=False")}),
    "mail in bundles": ("W302", {"services": "from django.core.mail import send_mail\ndef print_label(i): ...\n"}),
    "http two modules away": (
        "W302",
        {
            "services": "from .carrier import call\ndef print_label(i): ...\n",
            "carrier": "import http.client\ncall = 1\n",
        },
    ),
    "an early ack": ("E403", {"tasks": with_options("acks_late=False")}),
    "an acked failure": ("E403", {"tasks": with_options("acks_on_failure=True")}),
    "another app's queue": ("E501", {"tasks": with_options('queue="parcels"')}),
    "another app's services": ("E502", {"tasks": f"from tests.parcels.services import hand_in\n{TASKS}"}),
    "another app's models, late": (
        "E502",
        {"tasks": f"{TASKS}\ndef late():\n    from tests.parcels import models\n    import tests.parcels.tasks\n"},
    ),
    "not in tasks.py": (
        "E601 E401",
        {"handlers": TASKS.replace("print_label(event", "hidden(event"), "tasks": "from shipping import handlers\n"},
    ),
    "an event of nobody": ("E602", {"events": EVENTS.replace("shipping.label_wanted", "label_wanted")}),
    "a dependency that nobody checks": ("E604", {"tasks": with_options('depends_on=["carrier"]')}),
    "a key that is no id": ("E603", {"events": EVENTS.replace("order_id: UUID", "order_id: float")}),
    "soft limit above hard": (
        "E005",
        {"tasks": with_options("soft_time_limit=30, time_limit=30")},
    ),
    "limit above the broker's": ("E008", {"tasks": with_options("time_limit=1800")}),
    "retries for a year": (
        "E009",
        {"tasks": with_options("max_retries=400, retry_backoff_max=86400")},
    ),
    "limit below the wait for the database": (
        "E010",
        {"tasks": with_options("soft_time_limit=1, time_limit=2")},
    ),
    "ceiling below the floor": (
        "E010",
        {"tasks": with_options("retry_backoff_max=0.5")},
    ),
}
GOOD = {
    "as it should be": {},
    "a task that is no consumer": {"views": "def view(housekeeping):\n    housekeeping.delay()\n"},
    "a word like a consumer's": {"views": "def view(print_label):\n    return print_label\n"},
    "a dictionary": {"views": "def view(task, d):\n    task.delay()\n    return d.get('x')\n"},
    "no transaction, with a reason": {"tasks": with_options('atomic=False, idempotent_by="the label row"')},
    "mail, one at a time": {
        "services": "from django.core.mail import send_mail\ndef print_label(i): ...\n",
        "tasks": with_options("bundle_size=1"),
    },
    "events of another app": {
        "tasks": f"from tests.parcels.events import ParcelHandedIn\nfrom tests.sample import events\n{TASKS}"
    },
    "retries for a week": {"tasks": with_options("max_retries=168, retry_backoff_max=3600")},
}


@pytest.mark.parametrize("case", BAD)
def test_a_consumer_that_breaks_a_rule_is_named_with_a_hint_and_its_page(case: str, tmp_path: Path) -> None:
    check_ids, files = BAD[case]
    found = objections(tmp_path, **files)
    assert {message.id for message in found} == {f"baton.{check_id}" for check_id in check_ids.split()}, found
    anchors = {message.id: ANCHORS[str(message.id).partition(".")[2][1]] for message in found}
    assert all(str(message.hint).endswith(f"\n\tSee {PAGE}#{anchors[message.id]}") for message in found)
    assert all(str(message.hint).partition("\n")[0].endswith(".") for message in found)


@pytest.mark.parametrize("case", GOOD)
def test_a_right_consumer_is_not_objected_to(case: str, tmp_path: Path) -> None:
    assert objections(tmp_path, **GOOD[case]) == []


def test_a_consumer_whose_queue_is_missing_is_named(tmp_path: Path) -> None:
    (found,) = objections(tmp_path, queue="somewhere.else")
    assert found.id == "baton.E401"
    assert "shipping.print_label" in found.msg
    assert "BATON['QUEUES']" in found.msg


def test_the_objection_says_where_the_call_stands(tmp_path: Path) -> None:
    views = "from shipping.tasks import print_label\n\n\ndef view(request):\n    print_label.delay([])\n"
    with shipping(tmp_path, views=views):
        (found,) = check_publishing()
    assert "shipping.print_label" in found.msg
    assert "views.py, line 5" in found.msg


def test_a_queue_whose_dead_letters_lead_nowhere_is_refused() -> None:
    declared = celery_queues(baton().queues, delivery_limit=3)
    for queue in declared:
        if queue.name == "parcels":
            queue.queue_arguments = {}
    with celery_conf(task_queues=declared):
        (found,) = [message for message in run_checks() if message.id == "baton.E402"]
    assert "parcels" in found.msg


def test_a_queue_that_the_redis_transport_is_not_told_of_is_refused() -> None:
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "queues": ("parcels", "dead_letters")}
    with celery_conf(broker_transport_options=options):
        found = [message.msg for message in run_checks() if message.id == "baton.E402"]
    assert len(found) == len(baton().queues) - 1


def test_only_a_deployment_is_warned_of_owners_whom_no_mail_reaches() -> None:
    assert not [message for message in run_checks() if message.id == "baton.W404"]
    found = [message for message in run_checks(include_deployment_checks=True) if message.id == "baton.W404"]
    assert len(found) == len(baton().queues)


@pytest.mark.parametrize(("name", "is_refused"), [("task_always_eager", True), ("task_eager_propagates", False)])
def test_running_consumers_inside_the_producer_is_refused(name: str, is_refused: bool) -> None:
    with celery_conf(**{name: True}):
        assert bool([message for message in run_checks() if message.id == "baton.E203"]) is is_refused


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [("RELAY_POLL_SECONDS", "RELAY_LEASE_SECONDS"), ("BREAKER_PROBE_SECONDS", "BREAKER_MAX_PROBE_SECONDS")],
)
def test_settings_out_of_their_order_are_refused(smaller: str, larger: str) -> None:
    with override_settings(BATON={**settings.BATON, smaller: getattr(baton(), larger.lower())}):
        (found,) = [message for message in run_checks() if message.id == "baton.E006"]
    assert smaller in found.msg
    assert larger in found.msg


def test_a_lease_that_is_renewed_too_seldom_is_refused() -> None:
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "lease_renewal_seconds": 20}
    with celery_conf(broker_transport_options=options):
        assert [message for message in run_checks() if message.id == "baton.E007"]


def test_every_check_is_explained_on_the_page() -> None:
    room = Path(checks.__file__).parent
    page = (room.parents[1] / PAGE).read_text()
    source = "".join(path.read_text() for path in room.glob("*.py"))
    numbers = set(re.findall(r'"(?:baton\.)?([EW]\d{3})"', source))
    assert len(numbers) > 40
    assert [number for number in sorted(numbers) if f"`baton.{number}`" not in page] == []
    titles = [line.removeprefix("## ").lower() for line in page.splitlines() if line.startswith("## ")]
    assert {*ANCHORS.values()} <= {re.sub(r"[^a-z0-9 -]", "", title).replace(" ", "-") for title in titles}
