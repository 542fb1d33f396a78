"""An error refuses an operation: its text is for the operator, its ``code`` for scripts."""

from collections.abc import Iterable
from typing import ClassVar

from baton_messaging.errors import MessagingError


class OperationRefused(MessagingError):
    """Base class: nothing was changed, and the audit has an entry that says so."""

    code: ClassVar[str] = "refused"


class NotPermitted(OperationRefused):
    """The operator lacks the right."""

    code = "not_permitted"

    def __init__(self, actor: str, permission: str) -> None:
        super().__init__(
            f"Expected the permission {permission}, which {actor} does not have. Ask an administrator for it."
        )


class WhyMissing(OperationRefused):
    """An operation that cannot be taken back without a trace demands a reason."""

    code = "why_missing"

    def __init__(self, action: str) -> None:
        super().__init__(f"Expected a reason for {action}, got none. Say why, for whoever reads the audit.")


class BadText(OperationRefused):
    """A text holds what the database cannot store; the audit has it written out."""

    code = "bad_text"

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"Expected text without NUL and lone surrogates in {', '.join(names)}. Type it anew.")
