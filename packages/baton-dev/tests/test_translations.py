"""The texts that users read are found in Python and in templates."""

import doctest

from baton_dev.translations import texts
from baton_dev.translations.texts import Text, texts_in_python, texts_in_template


def test_texts_are_found_in_python_whatever_the_call_looks_like() -> None:
    source = """
_("one")
translation.gettext("t" "wo")
ngettext("%(count)d parcel", "%(count)d parcels", count)
pgettext_lazy("month", "May")
_(variable)
other("not this")
"""
    assert texts_in_python(source) == {
        Text("one"),
        Text("two"),
        Text("%(count)d parcel", plural="%(count)d parcels"),
        Text("May", context="month"),
    }


def test_texts_are_found_in_templates_whatever_the_tag_looks_like() -> None:
    source = """{% load i18n %}<p title="{% translate 'a (bracket)' %}">{% trans "old tag" %}</p>
{% blocktranslate with name=x %}Hello {{ name }}, isn't it?{% endblocktranslate %}
{% blocktranslate count counter=n %}one{% plural %}many{% endblocktranslate %}
{% translate "May" context "month" %}{% include "x.html" with title=_("filter") %}
{# Translators: a comment with _("no text") #}"""
    assert texts_in_template(source) == {
        Text("a (bracket)"),
        Text("old tag"),
        Text("Hello %(name)s, isn't it?"),
        Text("one", plural="many"),
        Text("May", context="month"),
        Text("filter"),
    }


def test_examples_in_the_documentation_are_right() -> None:
    assert doctest.testmod(texts).failed == 0
