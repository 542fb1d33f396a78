"""Each row of the table goes red for what is missing and for what contradicts; its line makes it green."""

from typing import Any

import kombu
import pytest
from baton_messaging import install as public
from baton_messaging.checks import celery_values as values
from baton_messaging.checks.celery_settings import REQUIREMENTS, objections_to
from baton_messaging.checks.objections import PAGE
from baton_messaging.checks.questions import ALWAYS
from baton_messaging.conf import baton
from baton_messaging.install import broker_settings, celery_queues, install
from celery import Celery
from django.conf import settings as project
from django.core.checks import CheckMessage, run_checks

from tests.checks.shipping import celery_conf

BROKERS = {"Redis": "redis://:s3cret@localhost/0", "RabbitMQ": "amqp://guest:s3cret@localhost//"}
PLAIN = {one.check_id for one in REQUIREMENTS if one.check_id.startswith("W72")}
#: Celery's own value is the right one, so nothing is missing where a project says nothing.
RIGHT_BY_DEFAULT = {"E702", "E705", "E708", "E709", "E717", "W715"}
#: A value that contradicts, for each row that has one: of W713 and W721 to W725 any value is a decision.
CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "E702": {"broker_write_url": "sqs://"},
    "E703": {"broker_transport_options": {"visibility_timeout": 3600}},
    "E704": {"task_queues": [kombu.Queue("sample")], "task_default_queue": "sample"},
    "E705": {"task_default_queue": "celery"},
    "E706": {"task_routes": {"*": {"queue": "sample"}}},
    "E707": {"worker_consumer": "celery.worker.consumer:Consumer"},
    "E708": {"task_serializer": "pickle"},
    "E709": {"accept_content": ["msgpack"]},
    "E710": {"beat_schedule": {"prune": {"task": "baton.prune", "schedule": 60.0}}},
    "E717": {"task_compression": "gzip"},
    "W711": {"worker_pool": "threads"},
    "W712": {"worker_prefetch_multiplier": 8},
    "W714": {"beat_scheduler": "django_celery_beat.schedulers:DatabaseScheduler"},
    "W715": {"beat_max_loop_interval": 300},
    "W726": {"task_soft_time_limit": 300, "task_time_limit": 300},
}


def adopter(**conf: Any) -> Celery:
    """Return the application of a project that configures this much of Celery."""
    app = Celery("adopter", set_as_current=False)
    app.conf.update(conf)
    return app


def configured(broker_url: str = BROKERS["Redis"], **changes: Any) -> Celery:
    """Return the application of a project that has everything, but for some changes."""
    conf = {name.removeprefix("CELERY_").lower(): getattr(project, name) for name in dir(project) if "CELERY_" in name}
    options = broker_settings(broker_url, baton().queues, delivery_limit=3).transport_options
    broker = {"broker_read_url": broker_url, "broker_write_url": broker_url, "broker_transport_options": options}
    app = adopter(**{**conf, **broker, **changes})
    install(app)
    return app


def ids(found: list[CheckMessage]) -> set[str]:
    return {str(message.id).removeprefix("baton.") for message in found}


def lines_of(found: list[CheckMessage]) -> list[str]:
    return [str(message.hint).removeprefix("Add: ").partition(f"\n\tSee {PAGE}#")[0] for message in found]


@pytest.mark.parametrize("broker", BROKERS)
def test_the_project_has_all(broker: str) -> None:
    assert objections_to(configured(BROKERS[broker])) == []


@pytest.mark.parametrize("broker", BROKERS)
def test_a_project_that_sets_nothing_is_told_all_and_the_lines_make_it_right(broker: str, settings: Any) -> None:
    url = BROKERS[broker]
    settings.MIDDLEWARE = []
    app = adopter(broker_write_url=url)
    found = objections_to(app)
    assert ids(found) == {one.check_id for one in REQUIREMENTS} - RIGHT_BY_DEFAULT

    written: dict[str, Any] = {name: getattr(public, name) for name in public.__all__}
    written |= {"app": app, "QUEUES": baton().queues, "MIDDLEWARE": [], "CELERY_BROKER_URL": url}
    for _ in range(2):  # a line may bring up what goes with it
        for line in lines_of(objections_to(app)):
            exec(line, written)
        settings.MIDDLEWARE = written["MIDDLEWARE"]
        lines = {name.removeprefix("CELERY_").lower(): written[name] for name in written if "CELERY_" in name}
        app = written["app"] = adopter(broker_write_url=url, **lines)
        install(app)
    assert objections_to(app) == []


@pytest.mark.parametrize("check_id", CONTRADICTIONS)
def test_a_value_that_contradicts_is_named_with_the_line_and_no_secret(check_id: str) -> None:
    found = objections_to(configured(**CONTRADICTIONS[check_id]))
    assert ids(found) == {check_id}
    assert "s3cret" not in str(found)
    assert lines_of(found)[0].startswith(f"{found[0].msg.partition(':')[0]} = ")


def test_each_row_is_red_for_a_missing_or_a_contradicting_value() -> None:
    without_middleware_and_call = {"E701", "W716"}  # which have no value, and are missing above
    rows = {one.check_id for one in REQUIREMENTS}
    assert rows - {*CONTRADICTIONS} - without_middleware_and_call == {"W713", *PLAIN} - {"W726"}
    assert len(rows) == len(REQUIREMENTS)


@pytest.mark.parametrize("key", ["exchange", "queues", "dead_letter_queue", "delivery_limit"])
def test_each_option_that_redis_needs_is_asked_for(key: str) -> None:
    options = dict(broker_settings(BROKERS["Redis"], baton().queues, delivery_limit=3).transport_options)
    del options[key]
    (found,) = objections_to(configured(broker_transport_options=options))
    assert (found.id, f" {key}." in found.msg) == ("baton.E703", True)


def test_rabbitmq_is_asked_for_confirms() -> None:
    (found,) = objections_to(configured(BROKERS["RabbitMQ"], broker_transport_options={"confirm_publish": False}))
    assert (found.id, "confirm_publish" in found.msg) == ("baton.E703", True)


def test_what_a_project_decides_for_its_plain_tasks_is_not_objected_to() -> None:
    stock: dict[str, Any] = {"task_acks_late": False, "task_reject_on_worker_lost": False, "task_acks_on_failure": True}
    stock |= {"task_acks_on_timeout": True, "task_time_limit": None, "task_soft_time_limit": None}
    assert objections_to(configured(**stock)) == []


def test_own_routes_and_queues_beside_ours_are_not_objected_to() -> None:
    queues = [*celery_queues(baton().queues, delivery_limit=3), kombu.Queue("celery")]
    routes = ({"shop.tasks.*": {"queue": "celery"}}, "baton_messaging.install.route_task")
    app = configured(task_queues=queues, task_default_queue="celery", task_routes=routes)
    assert objections_to(app) == []


def test_a_schedule_in_the_database_is_not_looked_for_in_the_settings() -> None:
    found = objections_to(
        configured(beat_scheduler="django_celery_beat.schedulers:DatabaseScheduler", beat_schedule={})
    )
    assert ids(found) == {"W714"}


def test_the_settings_are_among_the_questions() -> None:
    assert any(question.__module__.endswith("celery_settings") for question in ALWAYS)
    with celery_conf(task_routes=None):
        assert [message.id for message in run_checks() if message.id == "baton.E706"]


def test_a_middleware_in_front_of_the_request_ids_that_it_takes_over_is_found(settings: Any) -> None:
    layers = [values.MIDDLEWARE, values.REQUEST_IDS]
    settings.MIDDLEWARE = layers
    assert ids(objections_to(configured())) == {"W716"}
    settings.MIDDLEWARE = layers[::-1]
    assert objections_to(configured()) == []


def test_a_project_may_compress_what_its_transport_accepts() -> None:
    options = configured().conf.broker_transport_options
    accepting = {**options, "accept_compression": ("application/x-gzip",)}
    app = configured(task_compression="gzip", broker_transport_options=accepting)
    assert not {one.id for one in objections_to(app)} & {"baton.E703", "baton.E717"}
