"""The collector through outages and kills: nothing is lost, nothing is doubled, nothing is used up."""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from baton_dev.testing.outage_proxy import outage_proxy
from baton_dev.testing.processes import collector_command, running, wait_until
from baton_messaging.messages.envelope import seal
from baton_messaging.models import DeadLetter
from celery import current_app
from django.db import connection

from tests.dead_letters.dead_letter_queue import TASK, dead_letter_in_broker, wait_for_letters
from tests.dead_letters.factories import an_envelope

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def has_more_than(count: int) -> bool:
    return DeadLetter.objects.count() > count


def test_a_collector_that_is_killed_loses_and_doubles_nothing(tmp_path: Path, transactional_db: None) -> None:
    for _ in range(150):
        dead_letter_in_broker(seal(an_envelope(), to=TASK))
    command = collector_command()
    for number in (30, 90):
        with running(command, log=tmp_path / f"{number}.log", ready="collector_started") as process:
            wait_until(partial(has_more_than, number), what="some letters")
            process.kill()
    with running(command, log=tmp_path / "last.log", ready="collector_started"):
        wait_for_letters(150, seconds=90)


def through(url: str, port: int) -> str:
    parts = urlsplit(url)
    netloc = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{netloc[0]}{netloc[1]}127.0.0.1:{port}"))


def test_an_outage_of_the_database_costs_nothing(tmp_path: Path, transactional_db: None) -> None:
    url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))
    with outage_proxy(urlsplit(url).port or 5432) as database:
        options: dict[str, Any] = {"log": tmp_path / "log", "ready": "collector_started"}
        with running(collector_command(), env={"DATABASE_URL": through(url, database.port)}, **options) as process:
            dead_letter_in_broker(seal(an_envelope(), to=TASK))
            wait_for_letters(1)
            database.close()
            for _ in range(5):
                dead_letter_in_broker(seal(an_envelope(), to=TASK))
            wait_until(lambda: process.output().count("database_in_trouble") >= 3, what="back-off")
            assert DeadLetter.objects.count() == 1
            database.open()
            wait_for_letters(6)
            assert process.stop() == 0


def test_an_outage_of_the_broker_costs_nothing(tmp_path: Path, transactional_db: None) -> None:
    url = current_app.conf.broker_read_url
    with outage_proxy(urlsplit(url).port or 0) as broker:
        options: dict[str, Any] = {"log": tmp_path / "log", "ready": "collector_started"}
        with running(collector_command(), env={"CELERY_BROKER_URL": through(url, broker.port)}, **options) as process:
            dead_letter_in_broker(seal(an_envelope(), to=TASK))
            wait_for_letters(1)
            broker.close()
            for _ in range(5):
                dead_letter_in_broker(seal(an_envelope(), to=TASK))
            wait_until(lambda: process.output().count("broker_away") >= 2, what="back-off")
            broker.open()
            wait_for_letters(6)
            process.send(signal.SIGTERM)
            wait_until(lambda: process.exit_code == 0, what="a clean end")
