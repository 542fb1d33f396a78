from collections.abc import Callable
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from django.core.mail import EmailMessage
from pytest_django import Settings

from notifications.delivery import deliver
from notifications.errors import MailUnavailable
from notifications.letters import compose
from notifications.models import Kind
from tests.notifications.factories import an_order

MailTo = Callable[[str], None]


@pytest.fixture
def folder(mail_to: MailTo, tmp_path: Path) -> Path:
    path = tmp_path / "state" / "mail"
    mail_to(f"file://{path}")
    return path


def test_each_mail_is_a_file_named_by_time_kind_and_order(folder: Path) -> None:
    orders = [an_order(), an_order()]
    for order in orders:
        deliver(compose(order, Kind.CONFIRMED))
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 2
    for name, order in zip(names, orders, strict=True):
        assert name.endswith(f"Z-confirmed-{order.order_id}.eml")


def test_a_japanese_mail_can_be_read_with_any_editor(folder: Path) -> None:
    deliver(compose(an_order(language="ja", customer_name="東京 太郎" * 20), Kind.REJECTED))
    (file,) = folder.iterdir()
    text = file.read_text()
    assert "Subject: ご注文 BA-1001 をお受けできませんでした" in text
    assert "東京 太郎" in text
    assert "申し訳ございません。" in text
    assert "base64" not in text


def test_a_mail_program_reads_the_file(folder: Path) -> None:
    letter = compose(an_order(language="ja"), Kind.CONFIRMED)
    deliver(letter)
    (file,) = folder.iterdir()
    message = message_from_bytes(file.read_bytes(), policy=default)
    assert message["Subject"] == letter.subject
    assert message["To"].addresses[0].addr_spec == "ada@example.org"
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]
    body = message.get_body(("plain",))
    assert body is not None
    assert str(letter.body).strip() in body.get_content()


def test_only_the_owner_can_read_the_files(folder: Path) -> None:
    deliver(compose(an_order(), Kind.CONFIRMED))
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_a_mail_of_another_app_is_named_by_its_message_id(folder: Path) -> None:
    deliver(EmailMessage("Hi", "Hi", to=["a@example.org"], headers={"Message-ID": "<../../1@x>", "X-Mail-Kind": "a/b"}))
    (file,) = folder.iterdir()
    assert file.parent == folder
    assert file.name.endswith("Z-a_b-_.._.._1_x.eml")


def test_a_folder_that_cannot_be_written_is_transient_and_leaves_no_half_file(mail_to: MailTo, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("a file stands in the way")
    mail_to(f"file://{tmp_path}/mail")
    with pytest.raises(MailUnavailable, match="FileExistsError"):
        deliver(compose(an_order(), Kind.CONFIRMED))


def test_mail_lands_in_the_default_folder_unless_a_url_says_otherwise(mail_to: MailTo, tmp_path: Path) -> None:
    mail_to("")
    deliver(compose(an_order(), Kind.CONFIRMED))
    assert list(tmp_path.glob("*.eml"))


def test_the_console_backend_prints_the_mail(mail_to: MailTo, capsys: pytest.CaptureFixture[str]) -> None:
    mail_to("console://")
    deliver(compose(an_order(), Kind.CONFIRMED))
    assert "Your order BA-1001 is confirmed" in capsys.readouterr().out


def test_the_admins_own_mails_go_the_same_way(folder: Path, settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "ops@example.com"
    EmailMessage("Subject", "Body", to=["a@example.org"]).send()
    (file,) = folder.iterdir()
    assert "From: ops@example.com" in file.read_text()
