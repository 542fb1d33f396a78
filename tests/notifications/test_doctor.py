from collections.abc import Callable
from typing import Any

import pytest
from baton_dev.testing.deadline import within
from baton_messaging.diagnosis.doctor.lines import Line, Verdict
from baton_messaging.diagnosis.doctor.register import DEADLINE_SECONDS

from notifications.doctor import examine_mail_server


def examined() -> Line:
    (line,) = examine_mail_server()
    return line


def test_a_mail_server_that_lets_us_in_is_right_and_gets_no_mail(mail_server: Callable[..., Any]) -> None:
    server = mail_server()
    assert examined().verdict is Verdict.OK
    assert server.accepted == []


@pytest.mark.parametrize("replies", [{"greeting": "silence"}, {"greeting": "554 go away"}, {"greeting": "hang up"}])
def test_a_mail_server_that_is_silent_or_rude_is_found_in_time(
    mail_server: Callable[..., Any], mail_to: Callable[[str], None], replies: dict[str, str]
) -> None:
    server = mail_server(**replies)
    mail_to(f"smtp://127.0.0.1:{server.port}?timeout=5")
    line = within(examined, seconds=DEADLINE_SECONDS)
    assert (line.verdict, line.wanted) == (Verdict.FINDING, "a server that lets us log in")
    assert "EMAIL_URL" in line.remedy


def test_the_password_of_the_mail_server_is_not_told(mail_to: Callable[[str], None]) -> None:
    mail_to("smtp://ann:pa55word@127.0.0.1:1?timeout=9")
    line = examined()
    assert line.verdict is Verdict.FINDING
    assert "refused" in line.found
    assert "pa55word" not in str(line)
