"""Signals tell the apps what became of their messages. Connect receivers in ``AppConfig.ready()``.

*Invariant*. A receiver runs in the transaction of what it hears of, so what it writes is committed with it or not at
all. One that fails is logged, and changes nothing else.

*Hazard*. Keys are text, of all kinds of rows: a receiver ignores what is no id of its own.
"""

from django.dispatch import Signal

__all__ = ["dead_lettered", "dead_letters_alert", "dead_letters_settled"]

#: A message joined the list of dead letters: let the business row say "needs attention".
#: *Shapes*: ``key`` (str, the aggregate's id), ``consumer`` (str), ``message_id`` (UUID). *Hazard*: a receiver must
#: never overwrite a finished state, and locks the row also when that says so already: at this moment somebody may take
#: it back (see dead_letters_settled).
dead_lettered = Signal()

#: Dead letters were resolved or discarded, and no unsettled one about the same aggregates is left: "needs attention"
#: may be taken back. *Shapes*: ``keys`` (set of str).
dead_letters_settled = Signal()

#: An owner is to be told of a group of dead letters, once per group and period. The mail to the owner is one receiver;
#: a chat or a pager is another: docs/dead-letters.md. *Shapes*: ``alert`` with ``kind`` ("new", "growing" or "old"),
#: ``group`` (``consumer``, ``open_count``, …), ``owner`` (``name``, ``email``) and ``url`` (where to look at it). When
#: all receivers fail it is sent again at the next tick, a minute later.
dead_letters_alert = Signal()
