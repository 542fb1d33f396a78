"""Every text that a user reads is in a catalogue, translated and compiled."""

import pytest
from baton_dev.translations.catalogues import Catalogue, catalogues, faults, texts_used


@pytest.mark.parametrize("catalogue", catalogues(), ids=str)
def test_every_text_is_translated_and_compiled(catalogue: Catalogue) -> None:
    assert faults(catalogue) == []


def test_all_parts_of_the_project_are_searched() -> None:
    used = {str(catalogue): {text.text for text in texts_used(catalogue)} for catalogue in catalogues()}
    assert {"Page not found", "English"} <= used["locale"]  # of a template and of a setting
    assert len(used) > 1
    assert all(used.values())
