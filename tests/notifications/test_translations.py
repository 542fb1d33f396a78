"""The apps that bring Japanese texts of their own: nothing is missing, nothing is left over, nothing is uncompiled."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
APPS = pytest.mark.parametrize("app", ["inventory", "notifications"])
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


def catalog(app: str) -> Path:
    return ROOT / app / "locale/ja/LC_MESSAGES/django.po"


def texts_in_use(app: str) -> Iterator[str]:
    for module in (ROOT / app).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="_"), args=[ast.Constant(value=str(text))]):
                    yield text
    for template in (ROOT / app / "templates").rglob("*.*"):
        for literal in re.findall(r"gettext\(u?('.*?'|\".*?\")\)", templatize(template.read_text())):
            yield str(ast.literal_eval(literal))


@APPS
def test_every_text_is_translated_and_none_is_left_over(app: str) -> None:
    translated = {entry.msgid for entry in polib.pofile(str(catalog(app))).translated_entries()}
    assert translated == set(texts_in_use(app))


@APPS
def test_translations_keep_their_placeholders(app: str) -> None:
    for entry in polib.pofile(str(catalog(app))):
        assert sorted(PLACEHOLDER.findall(entry.msgstr)) == sorted(PLACEHOLDER.findall(entry.msgid)), entry.msgid


@APPS
def test_the_compiled_catalog_is_in_step(app: str) -> None:
    source, compiled = polib.pofile(str(catalog(app))), polib.mofile(str(catalog(app).with_suffix(".mo")))
    assert {entry.msgid: entry.msgstr for entry in source} == {entry.msgid: entry.msgstr for entry in compiled}
