"""What the machinery tells the apps. Receivers run in the transaction of what they hear of."""

from django.dispatch import Signal

# kwargs: key (str, the aggregate's id), consumer (str), message_id (UUID). Sent when a message joins the list of dead
# letters, so that the business row can say "needs attention". A receiver must never overwrite a finished state.
dead_lettered = Signal()
