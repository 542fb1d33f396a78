"""The lines about servers that do not answer hold no password."""

import pytest

from config.env.reachability import address, unreachable


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://baton:hunter2@db:5432/shop?sslmode=require", "postgres://db:5432/shop"),
        ("redis://:hunter2@queue/0", "redis://queue/0"),
        ("redis://queue:6379", "redis://queue:6379"),
        (
            "sentinel://:hunter2@one:26379;sentinel://:hunter2@two:26379/0",
            "sentinel://one:26379;sentinel://two:26379/0",
        ),
        ("sentinel://:hunter2@one:26379;two:26379", "sentinel://one:26379;two:26379"),
        ("amqp://baton:hunter%402@mq//", "amqp://mq//"),
    ],
)
def test_an_address_is_shown_without_user_and_password(url: str, shown: str) -> None:
    assert address(url) == shown


def test_a_password_that_the_server_repeats_is_left_out() -> None:
    line = unreachable("DATABASE_URL", "postgres://baton:hunter2@db/shop", OSError("no hunter2 here\nmore"))

    assert line == (
        "DATABASE_URL: postgres://db/shop cannot be used (no … here). Start that server, or correct DATABASE_URL."
    )
