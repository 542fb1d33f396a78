"""A mail backend for development writes each mail into one readable file, named by time, kind and subject.

Django's own file backend appends to files with names that tell nothing. An app names its mails by two headers:
``X-Mail-Kind``, a word, and ``X-Mail-About``, the id of what the mail is about. Hazard: the files hold personal data;
they are readable only by the user who runs the process, and nobody prunes them.
"""

import email
import email.policy
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone

# Headers and text in plain UTF-8 (RFC 6532), so that a Japanese mail can be read with any editor.
_READABLE = email.policy.default.clone(utf8=True, cte_type="8bit", max_line_length=998, refold_source="all")


class OneFilePerMailBackend(BaseEmailBackend):
    """Write mails below ``file_path`` (OPTIONS of Django 6.1's MAILERS, else ``settings.EMAIL_FILE_PATH``)."""

    def __init__(self, file_path: str | Path | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.directory = Path(file_path or settings.EMAIL_FILE_PATH)  # type: ignore[misc]  # config/mail/url.py sets it

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Write the files; raises OSError if one cannot be written."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for message in email_messages:
            self._write(_readable(message), _file_name(message))
        return len(email_messages)

    def _write(self, content: bytes, name: str) -> None:
        """Let the file appear only when it is complete."""
        with tempfile.NamedTemporaryFile(dir=self.directory, prefix=".", suffix=".part", delete=False) as file:
            unfinished = Path(file.name)
            try:
                file.write(content)
                file.flush()
                unfinished.replace(self.directory / name)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise


def _file_name(message: EmailMessage) -> str:
    """Return e.g. ``20260131T235959.123456Z-confirmed-0198….eml``; without the headers the Message-ID."""
    headers = message.extra_headers
    name_parts = [headers.get("X-Mail-Kind", "mail"), headers.get("X-Mail-About", headers.get("Message-ID", ""))]
    name = "-".join([timezone.now().strftime("%Y%m%dT%H%M%S.%fZ"), *filter(None, name_parts)])
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("_") + ".eml"


def _readable(message: EmailMessage) -> bytes:
    parsed = email.message_from_bytes(message.message().as_bytes(), policy=_READABLE)
    parsed.replace_header(
        "Subject", str(parsed["Subject"]).strip()
    )  # Django 5.2 folds a long one before its first word
    for part in parsed.walk():
        if part.get_content_maintype() == "text":
            text = part.get_content()
            part.set_content(text, subtype=part.get_content_subtype(), charset="utf-8", cte="8bit")
    return parsed.as_bytes()
