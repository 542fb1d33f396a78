"""The web's processes beat for real: a row of each gunicorn worker, wired as all others, which tells its end."""

from pathlib import Path

import pytest
from baton_dev.servers.ports import free_port
from baton_dev.testing.processes import alone, running, wait_until
from baton_messaging.models import Heartbeat

from tests.config.test_gunicorn import COMMAND

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_web_process_has_a_row_from_its_start_to_its_end(tmp_path: Path) -> None:
    env = {"WEB_PORT": str(free_port(seed=str(tmp_path))), "WEB_PROCESSES": "2"}
    with running([*COMMAND, "config.wsgi"], log=tmp_path / "web.log", ready="", env=env, start=alone) as web:
        rows = Heartbeat.objects.fresh().filter(role="web").filter(wiring__has_key="broker")
        wait_until(lambda: rows.count() == 2, seconds=60, what=f"two rows of two processes: {web.output()}")
        (one, other) = rows.all()
        assert one.pid != other.pid
        for aspect in ("broker", "database", "keys", "release"):
            assert one.wiring[aspect] == other.wiring[aspect]
        assert one.wiring["release"]["project"]
    assert not Heartbeat.objects.filter(role="web").exists()
    assert set(Heartbeat.ended.values_list("ended_by", flat=True)) == {"stopped"}
