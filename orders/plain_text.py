r"""What a line of text may hold that ends up in mails, logs, files and other people's screens.

Refused: control characters (NUL, which PostgreSQL cannot store; line ends, which forge mail headers and log lines),
lone surrogates (no encoding has them), line and paragraph separators, and the marks that turn the reading direction
around (they make a text look like another one). Everything else, of any script, is fine.
"""

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

_FORBIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u2028\u2029"  # line and paragraph separator
    "\u202a-\u202e\u2066-\u2069"  # direction overrides and isolates
    "\ud800-\udfff"  # lone surrogates
    "\ufffe\uffff"  # not characters
    "]"
)


def is_plain_line(text: str) -> bool:
    r"""Tell whether the text is one line of ordinary characters.

    >>> is_plain_line("Łódź 東京 👩‍🚀"), is_plain_line("Ann\nBcc: all@example.com"), is_plain_line("\x00")
    (True, False, False)
    """
    return _FORBIDDEN.search(text) is None


def names_an_address(text: str) -> bool:
    """Tell whether a mail program would make a link of it: a name is the first line of a mail to its e-mail address."""
    return "://" in text


def validate_name(text: str) -> None:
    """Refuse an address in a name. Raises django.core.exceptions.ValidationError."""
    if names_an_address(text):
        raise ValidationError(_("Please give a name, without the address of a page."), code="address")


def validate_plain_line(text: str) -> None:
    """Refuse anything else in a form or model field. Raises django.core.exceptions.ValidationError."""
    if not is_plain_line(text):
        raise ValidationError(_("Please use one line without control characters."), code="control_characters")
