"""The short form of `make blame`: some faults, injected into real processes: every verdict and owner is right."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.blame.catalogue import FAULTS
from baton_dev.blame.client import Client
from baton_dev.blame.examination import examine, table
from baton_dev.blame.stack import Stack
from baton_dev.testing.processes import url_of_test_database

import tests.blame.faults  # noqa: F401 - fills the catalogue
from tests.blame.stack import STACK

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    urls = {"database_url": url_of_test_database(), "broker_url": os.environ["CELERY_BROKER_URL"]}
    with STACK(tmp_path, names=("relay", "sample"), **urls) as stack:
        yield stack


def test_whoever_is_to_blame_is_named(stack: Stack) -> None:
    results = []
    client = Client(stack)
    for fault in FAULTS:
        if fault.is_short:
            results.append(examine(fault, stack, client))
            stack.mend()
    client.end()
    assert len(results) >= 6
    assert not [result for result in results if result.wrong], f"\n{table(results)}"


def test_the_catalogue_has_sixty_faults() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) >= 60
    assert sum(fault.is_pair for fault in FAULTS) >= 5
