"""The error page of debug, with a database that takes no login, and with secrets where no name tells of them."""

import os
from secrets import token_hex
from typing import Any
from urllib.parse import quote

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from django.views.debug import get_exception_reporter_class

SECRET = "it's<a>\\secret & more"
MARK = token_hex(20)  # no literal: the page quotes the source, too
DSN = "somewhere://me:another-password@host/x"


class Breakdown(Exception):
    pass


def page_of(error: Exception, *, html: bool = True) -> str:
    request = RequestFactory().get("/", headers={"X-Any": SECRET})
    reporter_class: Any = get_exception_reporter_class(request)
    reporter = reporter_class(request, type(error), error, error.__traceback__)
    return str(reporter.get_traceback_html() if html else reporter.get_traceback_text())


def broken(request: HttpRequest) -> Exception:
    """Return an error whose frames hold secrets under any name, and which speaks of them."""
    plain, nested, cut = SECRET, [{"x": b"." * 70 + SECRET.encode()}], "." * 4090 + SECRET
    address = f"smtp://me:{quote(SECRET, safe='')}@host"
    assert all([request, nested, cut, address])
    try:
        raise Breakdown(f"{plain} is wrong, and so is {DSN}")  # noqa: TRY301 - its frame is what is looked at
    except Breakdown as error:
        error.add_note(f"remember {plain}")
        return error


@pytest.mark.parametrize("html", [True, False])
def test_no_secret_of_the_settings_is_on_the_page(settings: Any, html: bool) -> None:
    settings.DEBUG = True
    settings.ANY_PASSWORD = SECRET
    page = page_of(broken(RequestFactory().get("/")), html=html)
    assert "Breakdown" in page
    assert "is wrong" in page
    for part in ("it's", "it&#x27;s", "it\\'s", "secret &", "%3Ca%3E", "another-password"):
        assert part not in page, part


@pytest.mark.django_db
def test_a_refused_login_of_the_database_shows_no_password(settings: Any) -> None:
    from django.db import OperationalError, connections

    settings.DEBUG = True
    settings.ANY_PASSWORD = MARK
    settings_dict = {**connections["default"].settings_dict, "USER": "nobody-at-all", "PASSWORD": MARK}
    other: Any = type(connections["default"])(settings_dict, "other")
    with pytest.raises(OperationalError) as caught:
        other.ensure_connection()
    page = page_of(caught.value)
    assert "conn_params" in page
    assert MARK not in page
    assert os.environ["DJANGO_SECRET_KEY"] not in page
