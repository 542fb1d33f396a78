"""The check of the network: names that nobody knows, certificates that end."""

from pathlib import Path
from typing import Any

import pytest
from baton_messaging.health.certificates import WARN_DAYS
from baton_messaging.health.condition import Condition
from celery import current_app

from tests.broker.tls import tls_in_front_of
from tests.health.conftest import Check, broker_port


def changes() -> dict[str, Any]:
    assert current_app.conf.broker_read_url  # it is read at the first look, and is another object then
    found: Any = current_app.conf.changes
    assert isinstance(found, dict)
    return found


def test_hosts_of_the_settings_are_resolved(check: Check) -> None:
    health = check("network")

    assert (health.condition, health.said) == (Condition.OK, "")
    assert health.facts["addresses"]["127.0.0.1"] == ["127.0.0.1"]


def test_host_that_nobody_knows_is_named(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(changes(), "broker_read_url", "redis://no-such-host.invalid:6379/0")

    health = check("network")

    assert health.condition is Condition.AWAY
    assert health.said.startswith("no-such-host.invalid: ")
    assert health.said.endswith("(DNS)")


@pytest.mark.parametrize(("days", "condition"), [(3, Condition.OK), (-3, Condition.AWAY)])
def test_days_that_a_certificate_has_left_are_told(
    check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, days: int, condition: Condition
) -> None:
    with tls_in_front_of(broker_port(), tmp_path, days=days) as (port, certificate):
        monkeypatch.setitem(changes(), "broker_read_url", f"rediss://127.0.0.1:{port}/0")
        monkeypatch.setitem(changes(), "broker_use_ssl", {"ssl_ca_certs": str(certificate)})
        health = check("network")

    assert health.condition is condition
    if condition is Condition.OK:
        assert 2 < health.facts["certificates"][f"127.0.0.1:{port}"]["days_left"] <= 3 < WARN_DAYS
    else:
        assert "certificate has expired" in health.said
