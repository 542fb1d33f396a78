from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client

from orders.models import Product
from orders.seed import ARTICLES, seed

pytestmark = pytest.mark.django_db


def test_every_product_is_valid_in_both_languages() -> None:
    assert seed() == "Demo products: 8 created, 0 were there."
    assert Product.objects.count() == len(ARTICLES)
    for product in Product.objects.all():
        product.full_clean(validate_unique=False, validate_constraints=False)
        assert product.name_in("ja") != product.name_in("en")
        assert (product.currency, product.price > 0) == ("EUR", True)


def test_seeding_again_leaves_what_was_changed() -> None:
    seed()
    Product.objects.filter(sku="MUG-STONE").update(price=Decimal("1.23"))
    assert seed() == "Demo products: 0 created, 8 were there."
    assert Product.objects.get(sku="MUG-STONE").price == Decimal("1.23")


@pytest.mark.django_db(transaction=True)
def test_five_seeds_at_once_make_each_product_once() -> None:
    def seed_and_close() -> str:
        try:
            return seed()
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        for future in [pool.submit(seed_and_close) for _ in range(5)]:
            future.result(timeout=60)
    assert Product.objects.count() == len(ARTICLES)


def test_the_example_of_the_api_can_be_ordered(client: Client) -> None:
    seed()
    order = client.get("/api/openapi.json").json()["components"]["schemas"]["OrderIn"]["properties"]["lines"]
    body = {"customer_name": "Ann", "customer_email": "ann@example.com", "lines": order["examples"][0]}
    assert client.post("/api/orders", body, content_type="application/json").status_code == 202
