import pytest
from baton_messaging.diagnosis import commands
from celery import current_app


def test_celery_is_started_with_the_projects_own_application() -> None:
    assert commands.worker("parcels.bulk") == "python -m celery -A tests.project worker -Q parcels.bulk"
    assert commands.beat() == "python -m celery -A tests.project beat"


@pytest.mark.parametrize("name", [None, "", "__main__", "not_there", "not_there.celery"])
def test_an_application_that_is_called_after_no_module_has_a_placeholder(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_app, "main", name)
    assert commands.beat() == "python -m celery -A YOUR_PROJECT beat"
