"""The catalogues of translations, each compared with the texts of the folders that it serves.

An app that has a folder ``locale`` has a catalogue of its own; the project's own holds what the others leave.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polib
from django.apps import apps
from django.conf import settings

from baton_dev.translations.texts import Text, texts_in_python, texts_in_template

# The folders of the project that belong to no app with a catalogue.
PROJECT_FOLDERS = ("config", "templates")
_TEMPLATE_SUFFIXES = {".html", ".txt", ".subject"}
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


@dataclass(frozen=True)
class Catalogue:
    """A folder ``locale``, and the folders whose texts it holds."""

    locale: Path
    sources: tuple[Path, ...]

    def __str__(self) -> str:
        return str(self.locale.relative_to(settings.BASE_DIR))

    @property
    def po_path(self) -> Path:
        """Return the Japanese file."""
        return self.locale / "ja" / "LC_MESSAGES" / "django.po"


def catalogues() -> list[Catalogue]:
    """Return the catalogues of this project: its own, then those of its apps."""
    project = Path(settings.BASE_DIR)
    folders = [Path(app.path) for app in apps.get_app_configs()]
    own = [path for path in folders if path.is_relative_to(project) and "site-packages" not in path.parts]
    return [
        Catalogue(project / "locale", tuple(project / name for name in PROJECT_FOLDERS)),
        *(Catalogue(path / "locale", (path,)) for path in own if (path / "locale").is_dir()),
    ]


def texts_used(catalogue: Catalogue) -> set[Text]:
    """Return all texts of the folders that a catalogue serves."""
    texts: set[Text] = set()
    for path in _files(catalogue.sources):
        if path.suffix == ".py" and "migrations" not in path.parts:
            texts |= texts_in_python(path.read_text())
        elif path.suffix in _TEMPLATE_SUFFIXES:
            texts |= texts_in_template(path.read_text())
    return texts


def faults(catalogue: Catalogue) -> list[str]:
    """Return what is wrong with a catalogue, one line each; nothing means that all is translated and compiled."""
    po = _read(catalogue)
    known = {_text_in(entry) for entry in po if not entry.obsolete}
    used = texts_used(catalogue)
    return [
        *(f"missing: {text.text!r}" for text in sorted(used - known)),
        *(f"not used any more: {text.text!r}" for text in sorted(known - used)),
        *(f"not translated: {entry.msgid!r}" for entry in po.untranslated_entries()),
        *(f"fuzzy: {entry.msgid!r}" for entry in po.fuzzy_entries()),
        *(f"other placeholders: {entry.msgid!r}" for entry in po.translated_entries() if not _same_placeholders(entry)),
        *([] if _is_compiled(po, catalogue) else ["the .mo file is not what the .po file says: compile it"]),
    ]


def update(catalogue: Catalogue) -> None:
    """Add what is missing (without translation), drop what is not used any more, and compile."""
    po = _read(catalogue)
    used = texts_used(catalogue)
    for entry in list(po):
        if _text_in(entry) not in used:
            po.remove(entry)
    for text in sorted(used - {_text_in(entry) for entry in po}):
        po.append(_entry(text))
    po.save()
    po.save_as_mofile(str(catalogue.po_path.with_suffix(".mo")))


def _read(catalogue: Catalogue) -> polib.POFile:
    return polib.pofile(str(catalogue.po_path), wrapwidth=0)


def _files(folders: Iterable[Path]) -> Iterable[Path]:
    return (path for folder in folders for path in sorted(folder.rglob("*")))


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


def _is_compiled(po: polib.POFile, catalogue: Catalogue) -> bool:
    mo_path = catalogue.po_path.with_suffix(".mo")
    if not mo_path.exists():
        return False
    mo = polib.mofile(str(mo_path))
    return _translations(mo) == _translations(po)


def _translations(file: polib.POFile | polib.MOFile) -> dict[Text, list[str]]:
    entries = file.translated_entries()
    return {_text_in(entry): [entry.msgstr, *entry.msgstr_plural.values()] for entry in entries}
