from collections.abc import Callable
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from baton_messaging.conf import baton
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from pytest_django import Settings

MailTo = Callable[[str], None]


@pytest.fixture
def folder(mail_to: MailTo, tmp_path: Path) -> Path:
    path = tmp_path / "state" / "mail"
    mail_to(f"file://{path}")
    return path


def a_mail(subject: str = "Welcome", body: str = "Hello Ada", **headers: str) -> EmailMultiAlternatives:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    mail = EmailMultiAlternatives(subject, body, to=["Ada <ada@example.org>"], headers=named)
    mail.attach_alternative(f"<p>{body}</p>", "text/html")
    return mail


def test_each_mail_is_a_file_named_by_time_kind_and_what_it_is_about(folder: Path) -> None:
    for about in ("1", "2"):
        a_mail(X_Mail_Kind="welcome", X_Mail_About=about).send()
    first, second = sorted(path.name for path in folder.iterdir())
    assert first.endswith("Z-welcome-1.eml")
    assert second.endswith("Z-welcome-2.eml")


def test_a_japanese_mail_can_be_read_with_any_editor(folder: Path) -> None:
    a_mail("ご登録ありがとうございます" * 5, "東京 太郎 様" * 20).send()
    (file,) = folder.iterdir()
    text = file.read_text()
    assert "Subject: ご登録ありがとうございます" in text
    assert "東京 太郎 様" in text
    assert "base64" not in text


def test_a_mail_program_reads_the_file(folder: Path) -> None:
    a_mail("ご登録", "東京").send()
    (file,) = folder.iterdir()
    message = message_from_bytes(file.read_bytes(), policy=default)
    assert message["Subject"] == "ご登録"
    assert message["To"].addresses[0].addr_spec == "ada@example.org"
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]
    body = message.get_body(("plain",))
    assert body is not None
    assert "東京" in body.get_content()


def test_only_the_owner_can_read_the_files(folder: Path) -> None:
    a_mail().send()
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_a_mail_that_is_about_nothing_is_named_by_its_message_id(folder: Path) -> None:
    a_mail(Message_ID="<../../1@x>", X_Mail_Kind="a/b").send()
    (file,) = folder.iterdir()
    assert file.parent == folder
    assert file.name.endswith("Z-a_b-_.._.._1_x.eml")


def test_a_folder_that_cannot_be_written_is_an_error_of_the_system(mail_to: MailTo, tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("a file stands in the way")
    mail_to(f"file://{tmp_path}/mail")
    with pytest.raises(FileExistsError):
        a_mail().send()


def test_mail_lands_in_the_default_folder_unless_a_url_says_otherwise(mail_to: MailTo, tmp_path: Path) -> None:
    mail_to("")
    a_mail().send()
    assert list(tmp_path.glob("*.eml"))


def test_the_console_backend_prints_the_mail(mail_to: MailTo, capsys: pytest.CaptureFixture[str]) -> None:
    mail_to("console://")
    a_mail().send()
    assert "Hello Ada" in capsys.readouterr().out


def test_the_sender_is_the_default_one(folder: Path, settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "ops@example.com"
    a_mail().send()
    (file,) = folder.iterdir()
    assert "From: ops@example.com" in file.read_text()


def test_an_alert_s_link_can_be_clicked() -> None:
    """It has the host that all other links of mails have."""
    assert settings.PUBLIC_URL.startswith("http")
    assert baton().desk_origin == settings.PUBLIC_URL
