"""Products to order, in both languages. What is there stays as it is: a price that somebody changed is kept."""

from decimal import Decimal
from typing import NamedTuple

from orders.models import Product


class Article(NamedTuple):
    """One demo product."""

    sku: str
    name: str
    name_ja: str
    price: Decimal


ARTICLES = (
    Article("MUG-STONE", "Stoneware mug", "陶器のマグカップ", Decimal("14.50")),
    Article("TEAPOT-IRON", "Cast-iron teapot", "鉄の急須", Decimal("68.00")),
    Article("TEA-SENCHA", "Sencha green tea, 100 g", "煎茶 100g", Decimal("12.90")),
    Article("TEA-HOJICHA", "Roasted hojicha tea, 100 g", "ほうじ茶 100g", Decimal("9.80")),
    Article("WHISK-BAMBOO", "Bamboo matcha whisk", "茶筅", Decimal("19.00")),
    Article("TRAY-OAK", "Oak serving tray", "オーク材のお盆", Decimal("34.00")),
    Article("CLOTH-LINEN", "Linen tea towel", "リネンの布巾", Decimal("11.00")),
    Article("BOWL-RAKU", "Raku tea bowl", "楽焼の茶碗", Decimal("145.00")),
)


def seed() -> str:
    """Create the missing products; return how many were missing."""
    known_count = Product.objects.filter(sku__in=[article.sku for article in ARTICLES]).count()
    Product.objects.bulk_create(
        [Product(**article._asdict(), currency="EUR") for article in ARTICLES], ignore_conflicts=True
    )
    return f"Demo products: {len(ARTICLES) - known_count} created, {known_count} were there."
