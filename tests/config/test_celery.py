"""What the project's own files say of Celery: its settings, and of Baton only what is meant for them."""

from baton_messaging.diagnosis import commands
from baton_messaging.install import beat_schedule, is_installed

from config.celery import app
from config.queues import QUEUES
from config.settings import celery as settings
from tests.docs.pages import ROOT


def test_application_and_settings_import_nothing_of_the_package_but_install_and_conf() -> None:
    folder = ROOT / "config"
    paths = [folder / "celery.py", folder / "queues.py", *(folder / "settings").glob("*.py")]
    lines = [line for path in paths for line in path.read_text().splitlines() if line.startswith("from baton_")]
    assert {line.split()[1] for line in lines} == {"baton_messaging.install", "baton_messaging.conf"}
    assert is_installed(app)


def test_the_settings_hold_each_queue_and_each_task_of_the_package() -> None:
    assert {queue.name for queue in settings.CELERY_TASK_QUEUES} == {*(queue.name for queue in QUEUES), "dead_letters"}
    assert beat_schedule().items() <= settings.CELERY_BEAT_SCHEDULE.items()


def test_triage_and_doctor_name_commands_that_can_be_pasted_here() -> None:
    assert commands.worker("orders") == "python -m celery -A config worker -Q orders"
    assert " -A config beat " in (ROOT / "Procfile").read_text()
