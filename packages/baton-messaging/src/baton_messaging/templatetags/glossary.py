"""Tag ``term``: a ``?`` behind a word, which leads to the word's entry in the glossary and has it in the title."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from baton_messaging.ui.glossary import ENTRIES

register = template.Library()


@register.simple_tag
def term(slug: str) -> SafeString:
    """Return the link. An unknown word is an error of the template, and raises KeyError."""
    entry = ENTRIES[slug]
    label = _("What does “%(word)s” mean?") % {"word": entry.word}
    address = f"{reverse('glossary')}#{slug}"
    return format_html('<a class="desk-term" href="{}" title="{}" aria-label="{}">?</a>', address, entry.meaning, label)
