"""The texts that users read, found in Python and in templates.

Without GNU gettext, which not every machine has: Python by its syntax tree, templates by Django's own translation of
them into calls.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation.template import templatize

# Function -> at which positions its arguments are (context, text, plural).
_TEXTS: dict[str, tuple[int | None, int, int | None]] = {
    "_": (None, 0, None),
    "gettext": (None, 0, None),
    "gettext_lazy": (None, 0, None),
    "ngettext": (None, 0, 1),
    "ngettext_lazy": (None, 0, 1),
    "pgettext": (0, 1, None),
    "pgettext_lazy": (0, 1, None),
    "npgettext": (0, 1, 2),
    "npgettext_lazy": (0, 1, 2),
}
_CALL = re.compile(rf"\b({'|'.join(_TEXTS)})\(")


@dataclass(frozen=True, order=True)
class Text:
    """One translatable text."""

    text: str
    plural: str = ""
    context: str = ""


def texts_in_python(source: str) -> set[Text]:
    """Return the literal texts that Python code marks.

    >>> texts_in_python("x = _('one')")
    {Text(text='one', plural='', context='')}
    """
    return {text for node in ast.walk(ast.parse(source)) if (text := _text_of(node))}


def texts_in_template(source: str) -> set[Text]:
    """Return the texts that a template marks.

    >>> texts_in_template("<p>{% translate 'one' %}</p>")
    {Text(text='one', plural='', context='')}
    """
    return {text for call in _calls(templatize(source)) if (text := _text_of(call))}


def _calls(code: str) -> Iterator[ast.AST]:
    """Find the calls in what templatize returns: the rest of it is X's and no Python."""
    for match in _CALL.finditer(code):
        end = match.end()
        while (end := code.find(")", end) + 1) > 0:
            try:
                yield ast.parse(code[match.start() : end], mode="eval").body
                break
            except SyntaxError:
                continue  # that bracket was within the text


def _text_of(node: ast.AST) -> Text | None:
    if not isinstance(node, ast.Call):
        return None
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name not in _TEXTS:
        return None
    context, text, plural = (_literal(node, position) for position in _TEXTS[name])
    return Text(text, plural, context) if text else None


def _literal(call: ast.Call, position: int | None) -> str:
    if position is None or position >= len(call.args):
        return ""
    argument = call.args[position]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else ""
