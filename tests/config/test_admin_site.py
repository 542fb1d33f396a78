"""The pages of the admin are imported late; they are checked and served all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from baton_dev.project import PROJECT_DIR
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from unfold.sites import UnfoldAdminSite

PAGE = """
from django.contrib import admin
from django.contrib.sessions.models import Session

@admin.register(Session)
class SessionAdmin(admin.ModelAdmin):
    list_display = ("{column}",)
"""


@pytest.mark.parametrize(("column", "code"), [("no_such_column", 1), ("session_key", 0)])
def test_check_finds_what_is_wrong_with_a_page_that_nobody_has_imported(column: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "admin.py").write_text(PAGE.format(column=column))
    (tmp_path / "with_shop.py").write_text(
        "from config.settings import *\nfrom config.settings import INSTALLED_APPS\n\n"
        'INSTALLED_APPS = [*INSTALLED_APPS, "shop"]\n'
    )
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--tag", "admin", "--settings", "with_shop"],  # the URLs stay out of it
        cwd=PROJECT_DIR,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("admin.E108" in done.stderr) is bool(code)


def test_the_admin_looks_as_unfold_does() -> None:
    assert isinstance(admin.site, UnfoldAdminSite)


@pytest.mark.django_db
def test_the_menu_has_the_board_what_is_stuck_and_each_app_for_those_who_may_see_them() -> None:
    client = Client()
    client.force_login(User.objects.create_user("sam", is_staff=True))
    menu = client.get("/admin/").content.decode()
    assert 'href="/ops/"' not in menu
    assert 'href="/admin/orders/order/"' not in menu
    client.force_login(User.objects.create_superuser("root"))
    for page in ("/admin/", "/ops/"):
        menu = client.get(page).content.decode()
        assert 'href="/ops/"' in menu
        assert f'href="{reverse("triage")}"' in menu
        assert 'href="/admin/orders/order/"' in menu
