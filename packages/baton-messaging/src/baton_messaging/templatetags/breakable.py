"""Filter ``breakable``: lets long names break where a reader would, behind dots and underscores."""

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def breakable(name: object) -> SafeString:
    """Return the name, escaped, with places to break.

    >>> breakable("a.b_<c>")
    'a.<wbr>b_<wbr>&lt;c&gt;'
    """
    return mark_safe(re.sub(r"([._/])", r"\1<wbr>", escape(str(name))))  # noqa: S308 - escaped first
