"""Changes that can meet a rival: another unsettled letter of the same message and consumer. There is one at most.

The query that looks for what can be changed leaves out what has a rival. A message that dies between that look and the
change makes one all the same; the constraint ``baton_dead_letter_unsettled_once`` then refuses the change.
"""

from collections.abc import Callable

from django.db import IntegrityError, transaction

from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import DeadLetterQuerySet


def change_without_rivals(changeable: DeadLetterQuerySet, change: Callable[[DeadLetterQuerySet], object]) -> list[int]:
    """Lock and change what can be, all of it or nothing; look again when a rival came meanwhile. Return the ids.

    ``changeable`` must leave out what has a rival: a further look that finds the same raises the IntegrityError.
    """
    letter_ids = changeable.all().lock()
    while letter_ids:
        try:
            with transaction.atomic():
                change(DeadLetter.objects.filter(pk__in=letter_ids))
        except IntegrityError as error:
            found_again = changeable.all().lock()
            if "baton_dead_letter_unsettled_once" not in str(error) or found_again == letter_ids:
                raise
            letter_ids = found_again
        else:
            break
    return letter_ids
