"""The glossary explains the words of the pages where they stand: a ``?`` behind a word leads to its entry here.

The words of code and logs are in docs/glossary.md; these are the ones that an operator meets on a page.
"""

from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from baton_messaging.audit.rights import Right
from baton_messaging.ui.frame import frame
from baton_messaging.ui.guard import needing


class Entry(NamedTuple):
    """A word and what it means."""

    word: Promise
    meaning: Promise


ENTRIES: Final[dict[str, Entry]] = {
    "attempt": Entry(
        gettext_lazy("Attempt"),
        gettext_lazy("One failed run of a consumer for a message. The next one is scheduled in the database."),
    ),
    "canary": Entry(
        gettext_lazy("Canary"),
        gettext_lazy(
            "The first few messages of a replay. The rest follows when these are resolved, and not if one of "
            "them dies again."
        ),
    ),
    "circuit": Entry(
        gettext_lazy("Circuit breaker"),
        gettext_lazy(
            "Opens when what a consumer depends on fails again and again. Then one message at a time is "
            "tried; the others wait and lose no attempt."
        ),
    ),
    "consumer": Entry(
        gettext_lazy("Consumer"),
        gettext_lazy("The function of an app that is given one kind of event. It is named app.function."),
    ),
    "dead-letter": Entry(
        gettext_lazy("Dead letter"),
        gettext_lazy("A message that its consumer will not get again unless a person replays it."),
    ),
    "heartbeat": Entry(
        gettext_lazy("Heartbeat"),
        gettext_lazy(
            "A row in which a process says every few seconds that it works, and on what. After 20 s without "
            "one it counts as silent."
        ),
    ),
    "in-flight": Entry(
        gettext_lazy("In flight"),
        gettext_lazy("Taken from the queue by a worker and not finished yet."),
    ),
    "key": Entry(
        gettext_lazy("Key"),
        gettext_lazy("The id of what a message is about: of the order, or of the export."),
    ),
    "lag": Entry(
        gettext_lazy("Lag"),
        gettext_lazy("How long a message took from its event to its effect, waiting included."),
    ),
    "outbox": Entry(
        gettext_lazy("Outbox"),
        gettext_lazy("The table of what was published. Messages wait here until the broker has confirmed them."),
    ),
    "p95": Entry(
        gettext_lazy("p50 and p95"),
        gettext_lazy("Half of all messages were at most as slow as p50, 95 of 100 at most as slow as p95."),
    ),
    "pause": Entry(
        gettext_lazy("Pause"),
        gettext_lazy(
            "Somebody holds a consumer, or the messages about one key, back. They wait in the database until "
            "it is resumed."
        ),
    ),
    "replay": Entry(
        gettext_lazy("Replay"),
        gettext_lazy(
            "Send a dead letter again. It keeps its id, so that what was applied already is not applied twice."
        ),
    ),
    "settled": Entry(
        gettext_lazy("Settled"),
        gettext_lazy("Every consumer of the message has processed it, or has its dead letter."),
    ),
    "verdict": Entry(
        gettext_lazy("Verdict"),
        gettext_lazy(
            "The answer of triage for one consumer: how far the message got, whose it is, and what to do next."
        ),
    ),
}


@require_safe
@needing(Right.SEE_BOARD)
def glossary(request: HttpRequest) -> HttpResponse:
    """Show all words."""
    entries = sorted(
        ((str(entry.word), slug, entry.meaning) for slug, entry in ENTRIES.items()), key=lambda one: one[0]
    )
    return render(request, "baton_messaging/glossary.html", {**frame(request, _("Glossary")), "entries": entries})
