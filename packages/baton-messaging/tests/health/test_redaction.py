"""What is kept of a server's words and of a session's statement holds no secret and no value."""

import pytest
from baton_messaging.health.redaction import MAX_LENGTH, quoted, statement_without_values
from pytest_django import Settings


@pytest.mark.parametrize(
    ("statement", "form"),
    [
        ("SELECT 1", "SELECT ?"),
        ("select * from t1 where a = 'Ann''s' and b=-2.5e10", "select * from t1 where a = ? and b=?"),
        (r"select E'Ann\'s secret', 'C:\' from t", "select ?, ? from t"),
        ("update t set note = 'cut off in the mid", "update t set note = ?"),
        ("select $$Ann$$, $x$it's$x$", "select ?, ?"),
        ("select 'a -- b', secret from t", "select ?"),
        ("/* Ann's job */ select x -- for 4711\nfrom t", "select x from t"),
        ("PREPARE p1 AS SELECT $1", "PREPARE p1 AS SELECT $1"),
        ("<insufficient privilege>", "<insufficient privilege>"),
    ],
)
def test_statement_keeps_its_form_and_loses_its_values(statement: str, form: str) -> None:
    assert statement_without_values(statement) == form


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("cannot reach redis://app:hunter2@cache:6379/0", "cannot reach redis://…@cache:6379/0"),
        ("invalid dsn: host=db password=hunter2 user=x", "invalid dsn: host=db password=… user=x"),
        ('password authentication failed for user "x"', 'password authentication failed for user "x"'),
        ("550 <ann@example.com>: unknown", "550 <…@example.com>: unknown"),
        ("unknown command, with args beginning with: 'hunter2'", "unknown command, with args beginning with: …"),
        ("first line\nDETAIL: Key (email)=(ann)", "first line"),
        ("bell\x07 and all", "bell  and all"),
        ("my key is a-secret-of-the-settings!", "my key is …!"),
    ],
)  # fmt: skip
def test_words_of_a_server_lose_secrets_and_keep_sense(said: str, kept: str, settings: Settings) -> None:
    settings.CARRIER_API_KEY = "a-secret-of-the-settings"

    assert quoted(said) == kept


def test_a_secret_is_found_in_other_spellings_too(settings: Settings) -> None:
    settings.CARRIER_PASSWORD = "it's a \\ secret"

    assert quoted(repr({"x": settings.CARRIER_PASSWORD + '"'})) == "{'x': '…\"'}"
    assert quoted("x=it%27s%20a%20%5C%20secret&y=1") == "x=…&y=1"


def test_words_that_do_not_end_are_cut() -> None:
    assert len(quoted("x" * 5_000)) == MAX_LENGTH
