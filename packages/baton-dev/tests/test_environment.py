"""The environment of `make run`: what is set wins over `.env`, and `.env` over what is made up."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from baton_dev.environment import complete_environment


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in an empty project, with an empty environment, and put everything back."""
    before = dict(os.environ)
    monkeypatch.setattr("baton_dev.environment.PROJECT_DIR", tmp_path)
    for name in ("DJANGO_DEBUG", "DJANGO_SECRET_KEY", "BATON_STATE_DIR", "WEB_PORT"):
        os.environ.pop(name, None)
    yield tmp_path
    os.environ.clear()
    os.environ.update(before)


def test_debug_is_on_unless_somebody_says_otherwise() -> None:
    complete_environment()
    assert os.environ["DJANGO_DEBUG"] == "true"

    os.environ["DJANGO_DEBUG"] = "false"
    complete_environment()
    assert os.environ["DJANGO_DEBUG"] == "false"


def test_the_secret_key_is_made_once_and_kept_for_its_owner_only(project: Path) -> None:
    complete_environment()
    first = os.environ.pop("DJANGO_SECRET_KEY")
    complete_environment()

    assert os.environ["DJANGO_SECRET_KEY"] == first
    assert len(first) >= 50
    assert stat.S_IMODE((project / "var" / "secret_key").stat().st_mode) == 0o600


def test_the_env_file_fills_what_is_unset(project: Path) -> None:
    (project / ".env").write_text("WEB_PORT=9000\nDJANGO_DEBUG=false\nDJANGO_SECRET_KEY=from-the-file\n")
    os.environ["WEB_PORT"] = "9001"

    complete_environment()

    assert os.environ["WEB_PORT"] == "9001"
    assert os.environ["DJANGO_DEBUG"] == "false"
    assert os.environ["DJANGO_SECRET_KEY"] == "from-the-file"
    assert not (project / "var").exists()


def test_the_secret_key_follows_the_state_directory(project: Path) -> None:
    os.environ["BATON_STATE_DIR"] = "elsewhere"

    complete_environment()

    assert (project / "elsewhere" / "secret_key").exists()
