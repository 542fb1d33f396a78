"""Put demo products with stock and an admin user into the database.

Safe to repeat, also by two processes at a time: what is there stays as it is, so prices, counts and the password that
somebody changed survive the next `make run`.
"""

import secrets
from decimal import Decimal
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model, password_validation
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.env import env
from inventory.models import StockItem
from orders.models import Product

ADMIN = "admin"
_PASSWORD_BYTES = 12  # 96 bits: 16 characters to type once, beyond guessing


class Article(NamedTuple):
    """One demo product and how many pieces there are of it."""

    sku: str
    name: str
    name_ja: str
    price: Decimal
    on_hand: int


ARTICLES = (
    Article("MUG-STONE", "Stoneware mug", "陶器のマグカップ", Decimal("14.50"), 1_000),
    Article("TEAPOT-IRON", "Cast-iron teapot", "鉄の急須", Decimal("68.00"), 200),
    Article("TEA-SENCHA", "Sencha green tea, 100 g", "煎茶 100g", Decimal("12.90"), 2_000),
    Article("TEA-HOJICHA", "Roasted hojicha tea, 100 g", "ほうじ茶 100g", Decimal("9.80"), 2_000),
    Article("WHISK-BAMBOO", "Bamboo matcha whisk", "茶筅", Decimal("19.00"), 500),
    Article("TRAY-OAK", "Oak serving tray", "オーク材のお盆", Decimal("34.00"), 300),
    Article("CLOTH-LINEN", "Linen tea towel", "リネンの布巾", Decimal("11.00"), 800),
    # Nearly sold out, so that a rejection can be seen.
    Article("BOWL-RAKU", "Raku tea bowl", "楽焼の茶碗", Decimal("145.00"), 3),
)


class Command(BaseCommand):
    help = "Put demo products with stock and an admin user into the database; what is there stays as it is."

    def handle(self, *args: object, **options: object) -> None:
        del args, options
        created_count = seed_products()
        self.stdout.write(f"Demo products: {created_count} created, {len(ARTICLES) - created_count} were there.")
        self.stdout.write(seed_admin())


@transaction.atomic
def seed_products() -> int:
    """Create the missing products and stock rows; return how many products were missing."""
    known_count = Product.objects.filter(sku__in=[article.sku for article in ARTICLES]).count()
    Product.objects.bulk_create(
        [Product(sku=a.sku, name=a.name, name_ja=a.name_ja, price=a.price, currency="EUR") for a in ARTICLES],
        ignore_conflicts=True,
    )
    StockItem.objects.bulk_create([StockItem(sku=a.sku, on_hand=a.on_hand) for a in ARTICLES], ignore_conflicts=True)
    return len(ARTICLES) - known_count


def seed_admin() -> str:
    """Create the admin user unless there is one; return the line to print, with the password if one was made up."""
    users = get_user_model().objects
    was_there = f"User {ADMIN} was there; its password was not touched."
    if users.filter(username=ADMIN).exists():
        return was_there
    given = _given_password()
    password = given or secrets.token_urlsafe(_PASSWORD_BYTES)
    user = {"is_staff": True, "is_superuser": True, "password": make_password(password)}
    _user, is_new = users.get_or_create(username=ADMIN, defaults=user)
    if not is_new:  # another process was faster
        return was_there
    return f"User {ADMIN} created, password " + ("from BATON_ADMIN_PASSWORD." if given else password)


def _given_password() -> str:
    """Return BATON_ADMIN_PASSWORD; outside debug it must be a good one."""
    if env.BATON_ADMIN_PASSWORD and not settings.DEBUG:
        try:
            password_validation.validate_password(env.BATON_ADMIN_PASSWORD)
        except ValidationError as error:
            raise CommandError(f"BATON_ADMIN_PASSWORD: {' '.join(error.messages)}") from None
    return env.BATON_ADMIN_PASSWORD
