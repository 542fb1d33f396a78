import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from io import StringIO
from types import ModuleType

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from config.env import env
from config.management.commands import seed

pytestmark = pytest.mark.django_db


def run() -> str:
    out = StringIO()
    call_command("seed", stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _no_given_password(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "")


def given(monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    monkeypatch.setattr(seed, "env", env.model_copy(update={"BATON_ADMIN_PASSWORD": password}))


def test_the_admin_can_log_in_with_the_password_that_is_printed_once() -> None:
    password = run().rsplit(maxsplit=1)[-1]
    user = authenticate(username="admin", password=password)
    assert user is not None
    assert user.is_superuser
    assert password not in run()


def test_seeding_again_leaves_the_password() -> None:
    run()
    before = get_user_model().objects.get().password
    run()
    assert get_user_model().objects.get().password == before


def test_an_app_seeds_by_a_module_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("config.seed")
    module.seed = lambda: "Samples: 2 created."  # type: ignore[attr-defined]
    module.__spec__ = ModuleSpec(module.__name__, None)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert "Samples: 2 created.\n" in run()


def test_an_app_that_cannot_seed_leaves_nothing_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_one_and_fail() -> str:
        get_user_model().objects.create(username="sample")
        raise ZeroDivisionError

    monkeypatch.setattr(seed, "seeds_of_apps", lambda: [make_one_and_fail])
    with pytest.raises(ZeroDivisionError):
        run()
    assert not get_user_model().objects.exists()


def test_a_given_password_is_used_and_not_printed(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.DEBUG = True
    given(monkeypatch, "admin")
    printed = run()
    assert authenticate(username="admin", password="admin") is not None
    assert printed.endswith("created, password from BATON_ADMIN_PASSWORD.\n")


def test_a_weak_password_is_refused_outside_debug(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.DEBUG = False
    given(monkeypatch, "password")
    with pytest.raises(CommandError, match="BATON_ADMIN_PASSWORD: This password is too common"):
        run()
    assert not get_user_model().objects.exists()


@pytest.mark.django_db(transaction=True)
def test_five_seeds_at_once_make_one_admin() -> None:
    def run_and_close() -> str:
        try:
            return run()
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        printed = [future.result(timeout=60) for future in [pool.submit(run_and_close) for _ in range(5)]]
    assert sum("User admin created" in text for text in printed) == 1
    assert get_user_model().objects.count() == 1
