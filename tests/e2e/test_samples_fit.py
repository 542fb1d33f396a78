"""The sample apps know nothing of each other but events: what must agree all the same."""

from inventory.seed import ON_HAND
from orders.seed import ARTICLES


def test_every_product_is_in_stock() -> None:
    assert {article.sku for article in ARTICLES} == {*ON_HAND}
