"""Why a mail did not go out, as types. Their texts hold no address, no name and nothing that the server said in words.

A mail server likes to quote the recipient in its answer, so only its codes are repeated here.
"""

from baton_messaging.errors import PermanentError, TransientError


class MailRefused(PermanentError):
    """This mail will never be accepted: a bad address, an unknown mailbox, rejected content."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The mail was refused for good: {reason}. Correct the order's address, then replay.")


class MailUnavailable(TransientError):
    """The mail server cannot be used now; it says nothing about this mail."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The mail server is not available: {reason}. If this lasts, check the server and EMAIL_URL.")
