"""What the doctor asks about mail."""

from collections.abc import Iterator
from typing import Final

from baton_messaging.extend.doctor import Observation, examines, observed

from notifications.delivery import log_in
from notifications.errors import MailUnavailable

ANSWER_SECONDS: Final = 1.0  # for the connection, the greeting and the login each; below the doctor's deadline


@examines("mail server")
def examine_mail_server() -> Iterator[Observation]:
    """Log in to the mail server, and send nothing."""
    trouble = ""
    try:
        found = f"{log_in(timeout_seconds=ANSWER_SECONDS)} takes mail"
    except MailUnavailable as error:
        trouble = str(error)
    yield observed(
        not trouble,
        "mail server",
        found=trouble or found,
        wanted="a server that lets us log in",
        remedy="Correct EMAIL_URL, or call whoever runs the server: mails wait, and go out by themselves.",
    )
