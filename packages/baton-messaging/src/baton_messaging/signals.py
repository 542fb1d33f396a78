"""What the machinery tells the apps. Receivers run in the transaction of what they hear of."""

from django.dispatch import Signal

# kwargs: key (str, the aggregate's id), consumer (str), message_id (UUID). Sent when a message joins the list of dead
# letters, so that the business row can say "needs attention". A receiver must never overwrite a finished state. It
# locks the row also when that says so already: at this moment somebody may take it back (see dead_letters_settled).
dead_lettered = Signal()

# kwargs: keys (set of str). Sent when dead letters were resolved or discarded and no unsettled one about the same
# aggregates is left: "needs attention" may be taken back.
dead_letters_settled = Signal()

# kwargs: alert (dead_letters.alerts.Alert). Sent by beat's task, once per group and period; the mail to the
# owner is one receiver, a chat or a pager is another: see docs/operations.md.
dead_letters_alert = Signal()
