"""The rights of people on orders and exports: which action needs which permission, at every door.

Pages, API and admin ask here and nowhere else. The package has its own table (``baton_messaging.audit.rights``);
docs/security.md shows both, and a test compares.
"""

from enum import StrEnum
from typing import Any, Final


class Right(StrEnum):
    """An action, and the permission that it needs. What a visitor may do with an own order: ``orders.placer``."""

    SEE_ORDERS = "orders.view_order"  # whose they are, in the admin
    CANCEL_ORDER = "orders.change_order"  # somebody else's
    ASK_FOR_EXPORT = (
        "orders.add_export"  # and see, fetch, cancel and repeat one's own: names and addresses of customers
    )
    SEE_EXPORTS = "orders.view_export"  # of others, and fetch them
    CANCEL_EXPORT = "orders.change_export"  # of others


#: What customers may do with what is their own. All else is for the staff: who leaves it loses that at once.
OWN: Final = frozenset({Right.ASK_FOR_EXPORT})


def may(user: Any, *rights: Right) -> bool:
    """Tell whether somebody has one of the rights. Nobody has any who is not active."""
    return any(user.has_perm(right.value) and (user.is_staff or right in OWN) for right in rights)
