from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from io import StringIO

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from config.env import env
from config.management.commands import seed
from inventory.models import StockItem
from orders.models import Product

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


def test_every_product_is_valid_in_both_languages_and_in_stock() -> None:
    assert "8 created" in run()
    assert Product.objects.count() >= 6
    for product in Product.objects.all():
        product.full_clean(validate_unique=False, validate_constraints=False)
        assert product.name_in("ja") != product.name_in("en")
        assert (product.currency, product.price > 0) == ("EUR", True)
        assert StockItem.objects.get(pk=product.sku).available > 0


def test_the_admin_can_log_in_with_the_password_that_is_printed_once() -> None:
    password = run().rsplit(maxsplit=1)[-1]
    user = authenticate(username="admin", password=password)
    assert user is not None
    assert user.is_superuser
    assert password not in run()


def test_seeding_again_leaves_what_was_changed() -> None:
    run()
    Product.objects.filter(sku="MUG-STONE").update(price=Decimal("1.23"))
    StockItem.objects.filter(sku="MUG-STONE").update(on_hand=7, reserved=2)
    before = get_user_model().objects.get().password
    assert "0 created" in run()
    assert Product.objects.get(sku="MUG-STONE").price == Decimal("1.23")
    assert StockItem.objects.get(sku="MUG-STONE").reserved == 2
    assert get_user_model().objects.get().password == before


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
def test_five_seeds_at_once_make_one_admin_and_each_product_once() -> None:
    def run_and_close() -> str:
        try:
            return run()
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        printed = [future.result(timeout=60) for future in [pool.submit(run_and_close) for _ in range(5)]]
    assert sum("User admin created" in text for text in printed) == 1
    assert Product.objects.count() == StockItem.objects.count() == len(seed.ARTICLES)
