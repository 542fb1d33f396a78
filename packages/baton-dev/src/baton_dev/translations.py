"""The texts that users read, and whether each is translated: what ``manage.py translations`` and its test ask.

Finds texts without GNU gettext, which not every machine has: Python by its syntax tree, templates by Django's own
translation of them into calls. Needs polib, from the development dependencies.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib
from django.conf import settings
from django.utils.translation.template import templatize

# Which catalogue holds whose texts. An app of your own gets a line here, or a place in the first one.
SOURCES = {
    "locale": ("config", "orders", "templates"),
    "packages/baton-messaging/src/baton_messaging/locale": ("packages/baton-messaging/src/baton_messaging",),
    "inventory/locale": ("inventory",),
    "notifications/locale": ("notifications",),
}
_TEMPLATE_SUFFIXES = {".html", ".txt", ".subject"}
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
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


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


def texts_used(locale: str) -> set[Text]:
    """Return all texts of the sources that a catalogue serves."""
    texts: set[Text] = set()
    for folder in SOURCES[locale]:
        for path in sorted((settings.BASE_DIR / folder).rglob("*")):
            if path.suffix == ".py" and "migrations" not in path.parts:
                texts |= texts_in_python(path.read_text())
            elif path.suffix in _TEMPLATE_SUFFIXES:
                texts |= texts_in_template(path.read_text())
    return texts


def po_path(locale: str) -> Path:
    """Return the Japanese catalogue's file."""
    return Path(settings.BASE_DIR) / locale / "ja" / "LC_MESSAGES" / "django.po"


def faults(locale: str) -> list[str]:
    """Return what is wrong with a catalogue, one line each; nothing means that all is translated and compiled."""
    po = _read(locale)
    known = {_text_in(entry) for entry in po if not entry.obsolete}
    used = texts_used(locale)
    return [
        *(f"missing: {text.text!r}" for text in sorted(used - known)),
        *(f"not used any more: {text.text!r}" for text in sorted(known - used)),
        *(f"not translated: {entry.msgid!r}" for entry in po.untranslated_entries()),
        *(f"fuzzy: {entry.msgid!r}" for entry in po.fuzzy_entries()),
        *(f"other placeholders: {entry.msgid!r}" for entry in po.translated_entries() if not _same_placeholders(entry)),
        *(
            []
            if _is_compiled(po, locale)
            else ["the .mo file is not what the .po file says: run manage.py translations"]
        ),
    ]


def update(locale: str) -> None:
    """Add what is missing (without translation), drop what is not used any more, and compile."""
    po = _read(locale)
    used = texts_used(locale)
    for entry in list(po):
        if _text_in(entry) not in used:
            po.remove(entry)
    for text in sorted(used - {_text_in(entry) for entry in po}):
        po.append(_entry(text))
    po.save()
    po.save_as_mofile(str(po_path(locale).with_suffix(".mo")))


def _read(locale: str) -> polib.POFile:
    return polib.pofile(str(po_path(locale)), wrapwidth=0)


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


def _text_in(entry: polib.POEntry) -> Text:
    return Text(entry.msgid, entry.msgid_plural, entry.msgctxt or "")


def _entry(text: Text) -> polib.POEntry:
    plural = {"msgid_plural": text.plural, "msgstr_plural": {0: ""}} if text.plural else {}
    context = text.context or None
    return polib.POEntry(msgid=text.text, msgstr="", msgctxt=context, **plural)


def _same_placeholders(entry: polib.POEntry) -> bool:
    translations = entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]
    wanted = set(_PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    return all(set(_PLACEHOLDER.findall(translation)) == wanted for translation in translations)


def _is_compiled(po: polib.POFile, locale: str) -> bool:
    mo_path = po_path(locale).with_suffix(".mo")
    if not mo_path.exists():
        return False
    mo = polib.mofile(str(mo_path))
    return _translations(mo) == _translations(po)


def _translations(catalogue: polib.POFile | polib.MOFile) -> dict[Text, list[str]]:
    entries = catalogue.translated_entries()
    return {_text_in(entry): [entry.msgstr, *entry.msgstr_plural.values()] for entry in entries}
