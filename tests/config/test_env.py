"""The environment: a wrong value ends any process with one line that names the variable, and tells no secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from baton_dev.project import PROJECT_DIR
from baton_dev.servers.ports import free_port

from config import env as env_module
from config.env import Environment
from config.env.example import example

STRONG = "a-secret-of-fifty-characters-or-more-0123456789-abcdefgh"
MANAGE = (sys.executable, "manage.py", "check")
CELERY = (sys.executable, "-m", "celery", "-A", "config", "worker", "-Q", "orders")
GUNICORN = (sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi")
FLOWER = (sys.executable, "-m", "celery", "-A", "config", "flower", "--conf=config/flower.py")
RUN = (sys.executable, "-m", "baton_dev.run")


def run(command: tuple[str, ...], **variables: object) -> subprocess.CompletedProcess[str]:
    """Run a command as a deployment does: no debug, and nothing in the environment but what is given."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**inherited, "DJANGO_SECRET_KEY": STRONG, **{name: str(value) for name, value in variables.items()}}
    return subprocess.run(
        command, cwd=PROJECT_DIR, env=environment, check=False, capture_output=True, text=True, timeout=60
    )


def assert_one_line(result: subprocess.CompletedProcess[str], *, variable: str) -> None:
    lines = result.stderr.splitlines()
    assert result.returncode == 2, result.stderr
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith(f"{variable}: ")
    assert "hunter2" not in result.stdout + result.stderr


@pytest.mark.parametrize("command", [MANAGE, CELERY, GUNICORN, FLOWER, RUN], ids=lambda command: command[-1])
def test_every_process_ends_with_one_line_when_a_url_is_broken(command: tuple[str, ...], tmp_path: Path) -> None:
    result = run(command, DATABASE_URL="mysql://baton:hunter2@db/baton", BATON_STATE_DIR=tmp_path)

    assert_one_line(result, variable="DATABASE_URL")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DATABASE_URL", "postgres://baton:hunter2@db:99999/baton"),
        ("DATABASE_URL", "postgres://baton:hunter2@db"),
        ("DATABASE_URL", "hunter2"),
        ("CELERY_BROKER_URL", "http://:hunter2@queue:80"),
        ("CELERY_BROKER_URL", "amqp://baton:hunter2@queue:port//"),
        ("CELERY_BROKER_URL", "sentinel://one:26379;sentinel://two:hunter2"),
        ("EMAIL_URL", "gopher://baton:hunter2@mail"),
        ("DEFAULT_FROM_EMAIL", "hunter2"),
        ("DEFAULT_FROM_EMAIL", "shop@example.com\nBcc: hunter2@example.com"),
        ("DJANGO_DEBUG", "hunter2"),
        ("DJANGO_SECRET_KEY", "hunter2"),
        ("DJANGO_SECRET_KEY", "a" * 60),
        ("DJANGO_SECRET_KEY", "django-insecure-" + STRONG),
        ("FLOWER_BASIC_AUTH", "hunter2"),
        ("WEB_PORT", "hunter2"),
        ("WEB_PORT", "65536"),
        ("WEB_PORT", "0"),
        ("BATON_DRAIN_SECONDS", "-1"),
    ],
)
def test_a_wrong_value_is_named_and_never_repeated(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DJANGO_DEBUG", "false")
    monkeypatch.setenv("DJANGO_SECRET_KEY", STRONG)
    monkeypatch.setenv(variable, value)

    with pytest.raises(SystemExit) as exit_:
        env_module.read_environment()

    written = capsys.readouterr().err
    assert exit_.value.code == 2
    assert written.startswith(f"{variable}: ")
    assert written.count("\n") == 1
    assert "hunter2" not in written


def test_a_mail_server_without_a_host_ends_the_process_with_one_line() -> None:
    assert_one_line(run(MANAGE, EMAIL_URL="smtp://baton:hunter2@"), variable="EMAIL_URL")


def test_no_secret_key_is_an_error_unless_debug_is_on() -> None:
    assert_one_line(run(MANAGE, DJANGO_SECRET_KEY=""), variable="DJANGO_SECRET_KEY")
    assert run(MANAGE, DJANGO_SECRET_KEY="", DJANGO_DEBUG="1").returncode == 0


def test_every_wrong_variable_has_a_line_of_its_own() -> None:
    result = run(MANAGE, WEB_PORT="x", FLOWER_PORT="y")

    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["WEB_PORT", "FLOWER_PORT"]


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_PORT", "")
    monkeypatch.setenv("POSTGRES_PORT", "")

    environment = Environment.read()

    assert (environment.WEB_PORT, environment.POSTGRES_PORT) == (8000, None)


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_ALLOWED_HOSTS", "shop.example.com, www.example.com,")

    assert Environment.read().DJANGO_ALLOWED_HOSTS == ("shop.example.com", "www.example.com")


def test_the_representation_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://baton:hunter2@db/baton")
    monkeypatch.setenv("FLOWER_BASIC_AUTH", "admin:hunter2")
    monkeypatch.setenv("BATON_ADMIN_PASSWORD", "hunter2")

    assert "hunter2" not in repr(Environment.read())


def test_the_example_file_lists_every_variable_with_its_default() -> None:
    assert (PROJECT_DIR / ".env.example").read_text() == example(), (
        "write it anew: DJANGO_DEBUG=true python -m config.env.example > .env.example"
    )


def test_an_unreachable_database_ends_a_management_command_with_one_line() -> None:
    url = f"postgres://baton:hunter2@127.0.0.1:{free_port(seed='nobody listens here')}/baton"

    assert_one_line(run((sys.executable, "manage.py", "migrate"), DATABASE_URL=url), variable="DATABASE_URL")
