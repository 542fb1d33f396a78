"""Beat's scheduler, beside what its process shows (test_processes.py)."""

from pathlib import Path
from typing import Any

from baton_messaging.processes.scheduler import Scheduler
from celery import current_app


def test_the_schedule_s_folder_is_made_on_a_new_machine(tmp_path: Path) -> None:
    file = tmp_path / "state" / "of" / "beat" / "schedule"
    scheduler: Any = Scheduler(app=current_app, schedule_filename=str(file), lazy=True)
    scheduler.setup_schedule()
    scheduler._store.close()
    assert any(file.parent.iterdir())
