"""Sentences wait for their reader's language, and lengths of time have one form."""

import doctest
from threading import Thread

from baton_messaging.health import wording
from baton_messaging.health.wording import said
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy


def test_the_examples_are_true() -> None:
    assert doctest.testmod(wording).failed == 0


def test_a_sentence_is_in_the_language_of_the_one_who_reads_it_not_of_the_thread_that_said_it() -> None:
    told = []
    thread = Thread(target=lambda: told.append(said("%(role)s!", role=_("relay"))))
    thread.start()
    thread.join()
    with translation.override("ja"):
        in_japanese = str(told[0])
    assert str(told[0]) == "relay!"
    assert in_japanese not in ("relay!", "%(role)s!")


def test_a_count_chooses_the_plural() -> None:
    text = ngettext_lazy("%(count)d letter of %(who)s", "%(count)d letters of %(who)s", "count")
    assert [str(said(text, count=count, who="us")) for count in (1, 2)] == ["1 letter of us", "2 letters of us"]
