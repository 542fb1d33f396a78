"""Put an admin user into the database, and what each app has to show: its own module ``seed``, if it has one.

Safe to repeat, also by two processes at a time: what is there stays as it is, so prices, counts and the password that
somebody changed survive the next `make run`.
"""

import secrets
from collections.abc import Callable, Iterator
from importlib import import_module

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model, password_validation
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.module_loading import module_has_submodule

from config.env import env

ADMIN = "admin"
_PASSWORD_BYTES = 12  # 96 bits: 16 characters to type once, beyond guessing

#: ``seed()`` of an app's module ``seed``: creates what is missing, and returns what to print; empty: nothing.
Seed = Callable[[], str]


class Command(BaseCommand):
    help = "Put an admin user and the apps' samples into the database; what is there stays as it is."

    def handle(self, *args: object, **options: object) -> None:
        del args, options
        with transaction.atomic():
            told = [seed() for seed in seeds_of_apps()]
        for line in filter(None, told):
            self.stdout.write(line)
        self.stdout.write(seed_admin())


def seeds_of_apps() -> Iterator[Seed]:
    """Find the apps that have samples, in the order of INSTALLED_APPS."""
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, "seed"):
            yield import_module(f"{app.name}.seed").seed


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
