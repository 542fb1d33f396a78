"""Stock of the products that orders offers. What is there stays as it is: a count that somebody changed is kept."""

from inventory.models import StockItem

ON_HAND = {
    "MUG-STONE": 1_000,
    "TEAPOT-IRON": 200,
    "TEA-SENCHA": 2_000,
    "TEA-HOJICHA": 2_000,
    "WHISK-BAMBOO": 500,
    "TRAY-OAK": 300,
    "CLOTH-LINEN": 800,
    "BOWL-RAKU": 3,  # nearly sold out, so that a rejection can be seen
}


def seed() -> str:
    """Create the missing stock rows; they go without saying, as the products' stock."""
    stock = [StockItem(sku=sku, on_hand=on_hand) for sku, on_hand in ON_HAND.items()]
    StockItem.objects.bulk_create(stock, ignore_conflicts=True)
    return ""
