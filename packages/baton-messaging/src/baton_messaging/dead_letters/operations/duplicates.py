"""A change may meet a duplicate: another unsettled dead letter of the same message and consumer. There is one at most.

The query for what can be changed leaves out what has a duplicate. A message that dies between query and change makes
one all the same; the constraint ``baton_dead_letter_unsettled_once`` then refuses the change.
"""

from collections.abc import Callable

from django.db import IntegrityError, transaction

from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import DeadLetterQuerySet


def change_without_duplicates(
    changeable: DeadLetterQuerySet, change: Callable[[DeadLetterQuerySet], object]
) -> list[int]:
    """Lock and change what can be, all of it or nothing; query again when a duplicate came meanwhile.

    ``changeable`` must leave out what has a duplicate: a further query that finds the same raises the IntegrityError.
    Returns the ids.
    """
    dead_letter_ids = changeable.all().lock()
    while dead_letter_ids:
        try:
            with transaction.atomic():
                change(DeadLetter.objects.filter(pk__in=dead_letter_ids))
        except IntegrityError as error:
            found_again = changeable.all().lock()
            if "baton_dead_letter_unsettled_once" not in str(error) or found_again == dead_letter_ids:
                raise
            dead_letter_ids = found_again
        else:
            break
    return dead_letter_ids
