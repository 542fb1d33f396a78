"""The check of the machine tells what is left."""

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_messaging.health import machine
from baton_messaging.health.condition import Condition

from tests.health.conftest import Check


def test_what_is_left_is_told(check: Check) -> None:
    health = check("machine")

    assert (health.condition, health.said) == (Condition.OK, "")
    facts = health.facts
    assert facts["disks"][0]["free_bytes"] > 0
    assert 0 < facts["memory"]["available_bytes"] <= facts["memory"]["limit_bytes"]
    assert 0 < facts["descriptors"]["open"] < facts["descriptors"]["limit"]
    assert len(facts["load"]) == 3
    assert facts["suspended_seconds"] >= 0


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = machine._descriptors()["open"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 10, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("few_descriptors")
def test_file_descriptors_that_run_out_are_told(check: Check) -> None:
    health = check("machine")

    assert health.condition is Condition.FULL
    assert "file descriptors: " in health.said


def test_folder_that_cannot_be_written_is_told(check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    health = check("machine")

    assert health.condition is Condition.DIFFERENT
    assert health.said.startswith(f"{tmp_path}/gone: No such file or directory")
