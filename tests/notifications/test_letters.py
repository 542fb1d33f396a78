import doctest
import unicodedata
from decimal import Decimal
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from uuid import UUID

import pytest
from baton_messaging.extend import correlation
from django.core.mail import EmailMultiAlternatives
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from notifications import letters
from notifications.errors import MailRefused
from notifications.letters import compose, message_id, one_line
from notifications.models import Kind
from notifications.orders import LineDetails
from tests.notifications.factories import ORDER_KINDS, an_order

ORDER_ID = UUID("0198f5b0-0000-7000-8000-000000000001")


def parsed(letter: EmailMultiAlternatives) -> EmailMessage:
    return message_from_bytes(letter.message().as_bytes(), policy=default)


def text_of(letter: EmailMultiAlternatives) -> str:
    body = parsed(letter).get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def html_of(letter: EmailMultiAlternatives) -> str:
    content, _mimetype = letter.alternatives[0]
    return str(content)


@pytest.mark.parametrize("kind", ORDER_KINDS)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_letter_names_order_lines_and_total(kind: Kind, language: str) -> None:
    letter = compose(an_order(language=language), kind)
    html = html_of(letter)
    assert "BA-1001" in letter.subject
    for content in (text_of(letter), html):
        for expected in ("Ada Lovelace", "BA-1001", "Stoneware mug", "37.50 EUR", "1,234.50 EUR"):
            assert expected in content


@pytest.mark.parametrize("kind", ORDER_KINDS)
def test_the_language_is_the_customers_whatever_the_workers(kind: Kind) -> None:
    with translation.override("ja"):
        english = compose(an_order(language="en"), kind)
    with translation.override("en"):
        japanese = compose(an_order(language="ja", customer_name="東京 太郎"), kind)
        assert translation.get_language() == "en"
    assert english.subject.isascii()
    assert "ご注文" in japanese.subject
    assert "東京 太郎 様" in text_of(japanese)
    assert japanese.message()["Content-Language"] == "ja"


def test_a_japanese_subject_decodes_from_the_bytes_sent() -> None:
    letter = compose(an_order(language="ja"), Kind.CONFIRMED)
    assert letter.subject != compose(an_order(language="en"), Kind.CONFIRMED).subject
    assert b"Subject: =?utf-8?" in letter.message().as_bytes()
    assert str(parsed(letter)["Subject"]) == letter.subject


def test_an_unknown_language_falls_back_to_the_projects() -> None:
    assert compose(an_order(language="xx"), Kind.RECEIVED).subject == "We have received your order BA-1001"


def test_the_message_id_follows_from_order_and_kind(settings: Settings) -> None:
    settings.NOTIFICATIONS_MESSAGE_ID_DOMAIN = "mail.example.com"
    order = an_order(order_id=ORDER_ID)
    expected = "<0198f5b0000070008000000000000001.confirmed@mail.example.com>"
    assert message_id(ORDER_ID, Kind.CONFIRMED) == expected
    assert {parsed(compose(order, Kind.CONFIRMED))["Message-ID"] for _ in range(3)} == {expected}
    assert message_id(ORDER_ID, Kind.REJECTED) != expected


def test_a_long_domain_does_not_break_the_message_id(settings: Settings) -> None:
    settings.NOTIFICATIONS_MESSAGE_ID_DOMAIN = ".".join(["a" * 60] * 4)
    letter = compose(an_order(order_id=ORDER_ID), Kind.CANCELLED)
    assert str(parsed(letter)["Message-ID"]).strip() == message_id(ORDER_ID, Kind.CANCELLED)


def test_headers_name_order_kind_and_correlation() -> None:
    order = an_order()
    with correlation(ORDER_ID):
        message = parsed(compose(order, Kind.RECEIVED))
    assert message["X-Mail-About"] == str(order.order_id)
    assert message["X-Mail-Kind"] == "received"
    assert message["X-Correlation-ID"] == str(ORDER_ID)
    assert message["Auto-Submitted"] == "auto-generated"
    assert "X-Correlation-ID" not in parsed(compose(order, Kind.RECEIVED))


def test_a_rejection_names_what_is_short() -> None:
    letter = compose(an_order(), Kind.REJECTED, short_skus=("TEA",))
    assert "\n\nNot in stock: Green tea (TEA)\n\nOrder" in text_of(letter)
    assert "Not in stock" not in text_of(compose(an_order(), Kind.REJECTED))


def test_html_in_names_is_shown_not_obeyed() -> None:
    letter = compose(an_order(customer_name="<b>Ada</b>", reference="<i>1</i>"), Kind.CONFIRMED)
    html = html_of(letter)
    assert "&lt;b&gt;Ada" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<b>Ada</b>" in text_of(letter)


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x00\n"])
def test_line_breaks_in_names_start_no_line_and_no_header(separator: str) -> None:
    hostile = f"Ada{separator}Bcc: everyone@example.com"
    order = an_order(
        customer_name=hostile,
        reference=hostile,
        lines=(LineDetails("MUG", hostile, 1, Decimal(1)), LineDetails(hostile, "Tea", 1, Decimal(1))),
    )
    for kind in ORDER_KINDS:
        letter = compose(order, kind, short_skus=(hostile,))
        message = parsed(letter)
        assert message["Bcc"] is None
        assert message["To"].addresses[0].addr_spec == "ada@example.org"
        assert len(message["To"].addresses) == 1
        assert not any(line.startswith("Bcc:") for line in text_of(letter).splitlines())


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_name_makes_a_mail_to_one_recipient(name: str) -> None:
    order = an_order(customer_name=name, lines=(LineDetails("MUG", name, 1, Decimal(1)),), reference=name)
    letter = compose(order, Kind.REJECTED, short_skus=("MUG",))
    assert letter.recipients() == ["ada@example.org"]
    (address,) = parsed(letter)["To"].addresses
    assert address.addr_spec == "ada@example.org"


@pytest.mark.parametrize(
    "address",
    ["", "nobody", "a@b", "a b@example.org", "ada@example.org\nBcc: x@example.com", "ada@example.org, x@example.org",
     "Ada <ada@example.org>", "ada@exa mple.org", "ädä@example.org"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(MailRefused) as caught:
        compose(an_order(customer_email=address), Kind.RECEIVED)
    assert not address or address not in str(caught.value)
    assert caught.value.__suppress_context__


def test_an_international_domain_is_written_in_ascii() -> None:
    letter = compose(an_order(customer_email="ada@bücher.example", customer_name="Zoë"), Kind.RECEIVED)
    (address,) = parsed(letter)["To"].addresses
    assert address.addr_spec == "ada@xn--bcher-kva.example"


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(letters) == (0, 2)


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_short_line(text: str, max_characters: int) -> None:
    line = one_line(text, max_characters)
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(character) == "Cc" for character in line)
    assert len(line) <= max_characters
