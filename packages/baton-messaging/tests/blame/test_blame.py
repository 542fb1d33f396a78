"""The short form of `make blame`: some faults, injected into real processes: every view names whose they are."""

from pathlib import Path

import pytest
from baton_dev.blame.catalogue import FAULTS
from baton_dev.blame.examination import table
from baton_dev.blame.short import examine_short

import tests.blame.faults  # noqa: F401 - fills the catalogue
from tests.blame.stack import STACK


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("empty_broker")
def test_whoever_is_to_blame_is_named(tmp_path: Path) -> None:
    results = examine_short(STACK, tmp_path, names=("relay", "sample"))
    assert len(results) >= 6
    assert not [result for result in results if result.wrong], f"\n{table(results)}"


def test_the_catalogue_has_a_hundred_faults() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) >= 100
    assert sum(fault.is_pair for fault in FAULTS) >= 5
