import pytest

from inventory.models import StockItem
from inventory.seed import ON_HAND, seed

pytestmark = pytest.mark.django_db


def test_everything_is_in_stock() -> None:
    seed()
    assert {item.sku: item.available for item in StockItem.objects.all()} == ON_HAND


def test_seeding_again_leaves_what_was_changed() -> None:
    seed()
    StockItem.objects.filter(sku="MUG-STONE").update(on_hand=7, reserved=2)
    seed()
    assert StockItem.objects.get(sku="MUG-STONE").available == 5
