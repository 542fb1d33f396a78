"""The web's edge: which names, proxies and origins count, HTTPS, and how often a password may be guessed."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from config.web.client_address import client_address, is_loopback

SETTINGS = """
import json, config.settings as s
names = ["ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "USE_X_FORWARDED_HOST", "SECURE_PROXY_SSL_HEADER",
         "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS",
         "SECURE_HSTS_PRELOAD", "SECURE_HSTS_INCLUDE_SUBDOMAINS", "SESSION_COOKIE_SECURE"]
print(json.dumps({name: getattr(s, name) for name in names}))
"""
KEY = "0123456789abcdef" * 4


def started(**variables: str) -> subprocess.CompletedProcess[str]:
    ours = ("DJANGO_", "PUBLIC_URL", "PROXY_", "WEB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment = {**kept, "DJANGO_SECRET_KEY": KEY, **variables}
    command = [sys.executable, "-c", SETTINGS]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def settings_with(**variables: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(started(**variables).stdout)
    return result


def test_debug_takes_this_machines_names_and_the_sites_own() -> None:
    hosts = settings_with(DJANGO_DEBUG="1", PUBLIC_URL="https://x-8000.example.dev")["ALLOWED_HOSTS"]
    assert set(hosts) == {"127.0.0.1", "localhost", ".localhost", "[::1]", "x-8000.example.dev"}


def test_the_public_address_is_a_host_and_an_origin() -> None:
    found = settings_with(PUBLIC_URL="https://shop.example.com:8443/")
    assert found["ALLOWED_HOSTS"] == ["shop.example.com"]
    assert found["CSRF_TRUSTED_ORIGINS"] == ["https://shop.example.com:8443"]


def test_no_proxy_is_believed_unless_they_are_counted() -> None:
    nobody, one = settings_with(), settings_with(PROXY_COUNT="1")
    assert (nobody["USE_X_FORWARDED_HOST"], nobody["SECURE_PROXY_SSL_HEADER"]) == (False, None)
    assert (one["USE_X_FORWARDED_HOST"], one["SECURE_PROXY_SSL_HEADER"]) == (True, ["HTTP_X_FORWARDED_PROTO", "https"])


def test_hsts_begins_small_and_speaks_for_this_name_only() -> None:
    found = settings_with()
    assert (found["SECURE_SSL_REDIRECT"], found["SECURE_HSTS_SECONDS"]) == (True, 3600)
    assert found["SECURE_HSTS_PRELOAD"] is found["SECURE_HSTS_INCLUDE_SUBDOMAINS"] is False
    assert settings_with(DJANGO_HSTS_SECONDS="31536000")["SECURE_HSTS_SECONDS"] == 31536000


def test_a_site_that_is_plain_http_by_its_own_word_redirects_nowhere() -> None:
    found = settings_with(PUBLIC_URL="http://shop.intranet")
    assert (found["SECURE_SSL_REDIRECT"], found["SECURE_HSTS_SECONDS"], found["SESSION_COOKIE_SECURE"]) == (
        False,
        0,
        False,
    )


@pytest.mark.parametrize(
    "host",
    ["https://shop.example.com", "shop.example.com:8000", "*.example.com", "shop.example.com/", "a b", "shop,*.x"],
)
def test_a_bad_host_ends_with_one_sentence(host: str) -> None:
    result = started(DJANGO_ALLOWED_HOSTS=host)
    assert result.returncode == 2
    assert result.stderr.startswith("DJANGO_ALLOWED_HOSTS: expected names of hosts")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("host", ["shop.example.com", ".example.com", "10.0.0.7", "[::1]", "localhost", "*"])
def test_a_good_host_is_taken(host: str) -> None:
    assert host in settings_with(DJANGO_ALLOWED_HOSTS=host)["ALLOWED_HOSTS"]


@pytest.mark.parametrize("origin", ["shop.example.com", "https://shop.example.com/x", "ftp://x", "https://"])
def test_a_bad_origin_ends_with_one_sentence(origin: str) -> None:
    result = started(DJANGO_TRUSTED_ORIGINS=origin)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "9.9.9.9", "10.0.0.1"),
        (1, "9.9.9.9", "9.9.9.9"),
        (1, "1.1.1.1, 9.9.9.9", "9.9.9.9"),
        (2, "1.1.1.1, 9.9.9.9, 10.0.0.2", "9.9.9.9"),
        (2, "9.9.9.9", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "nonsense\x1b", ""),
        (1, "::1", "::1"),
    ],
)
def test_the_clients_address_is_what_the_outermost_proxy_saw(
    settings: Any, proxies: int, forwarded: str, address: str
) -> None:
    settings.PROXY_COUNT = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address
    assert is_loopback(request) == (address == "::1")


@pytest.fixture
def deployed(settings: Any) -> Any:
    settings.ALLOWED_HOSTS = ["shop.example.com"]
    settings.SECURE_SSL_REDIRECT = True
    settings.METRICS_TOKEN = "a-token-of-twenty-characters"
    return settings


@pytest.mark.parametrize(
    ("proxies", "header", "status", "says"),
    [(0, "https", 400, "PROXY_COUNT"), (1, "", 400, "X-Forwarded-Proto"), (1, "http", 301, ""), (0, "", 301, "")],
)
def test_no_redirect_goes_round_for_ever(deployed: Any, proxies: int, header: str, status: int, says: str) -> None:
    deployed.PROXY_COUNT = proxies
    headers = {"host": "shop.example.com", **({"x-forwarded-proto": header} if header else {})}
    answer = Client(headers=headers).get("/")
    assert answer.status_code == status
    assert says in answer.content.decode()


@pytest.mark.django_db
def test_figures_are_answered_by_plain_http(deployed: Any) -> None:
    scrape = Client(headers={"host": "10.0.0.7:8000", "authorization": f"Bearer {deployed.METRICS_TOKEN}"})
    assert scrape.get("/metrics").status_code == 200
    assert Client(headers={"host": "10.0.0.7", "authorization": "Bearer wrong"}).get("/metrics").status_code == 401
    assert Client(headers={"host": "shop.example.com"}).get("/metrics").status_code == 401


def log_in(path: str, username: str, password: str, address: str = "10.0.0.1") -> Any:
    return Client(REMOTE_ADDR=address).post(path, {"username": username, "password": password})


@pytest.fixture
def somebody(db: None) -> User:
    return User.objects.create_superuser("somebody", password="the-right-one")


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_guessing_an_accounts_password_ends_also_from_many_addresses(somebody: User, path: str) -> None:
    tried = [log_in(path, "somebody", f"wrong{number}", f"10.0.1.{number}").status_code for number in range(11)]
    assert tried == [200] * 9 + [429] * 2

    answer = log_in(path, "somebody", "the-right-one", "10.0.2.1")

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "300")
    assert "Too many wrong passwords" in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    assert log_in(path, "another", "wrong", "10.0.2.1").status_code == 200


def test_guessing_many_accounts_from_one_address_ends(somebody: User) -> None:
    for number in range(10):
        log_in("/login/", f"user{number}", "wrong")
    assert log_in("/login/", "somebody", "the-right-one").status_code == 429
    assert log_in("/login/", "somebody", "the-right-one", "10.0.0.2").status_code == 302


def test_an_attacker_who_goes_on_does_not_prolong_the_lock(somebody: User) -> None:
    from axes.models import AccessAttempt

    for _ in range(12):
        log_in("/login/", "somebody", "wrong")
    before = AccessAttempt.objects.get().attempt_time
    log_in("/login/", "somebody", "wrong")
    assert AccessAttempt.objects.get().attempt_time == before


def test_nothing_of_a_failed_login_reveals_whether_the_account_exists(somebody: User) -> None:
    known, unknown = (log_in("/login/", name, "wrong", "10.0.3.3").content.decode() for name in ("somebody", "nobodyy"))
    told = [[line for line in page.splitlines() if "value=" not in line] for page in (known, unknown)]
    assert told[0] == told[1]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/login/", "/api/orders/x", "/nowhere", "/api/docs", "/exports/", "/admin/login/"]
)
def test_no_answer_is_kept_by_anybody(path: str) -> None:
    assert "no-store" in Client().get(path).headers["Cache-Control"]


def test_static_files_may_be_kept(db: None) -> None:
    answer = Client().get("/static/baton.css")
    answer.close()
    assert "no-store" not in answer.headers["Cache-Control"]
