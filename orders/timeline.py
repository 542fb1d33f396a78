"""The order's way as a person reads it: what happened, who had to act on it, and how far each has come.

Everything here is read from ``baton_messaging``'s progress; nothing is remembered beside it, so the picture cannot lie.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from baton_messaging.extend import PROGRESS_TEXTS, ConsumerProgress, progress_of
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from orders.models import Order

# Steps that an order takes when nothing is added: three consumers of the order, two of the stock's answer. The progress
# bar counts on them, so that it does not fall back when the second event comes.
EXPECTED_STEPS = 5

_STEPS: dict[str, Promise] = {
    "inventory.reserve_stock": _("Reserve the stock"),
    "inventory.release_stock": _("Release the stock"),
    "notifications.send_order_received": _("Mail: order received"),
    "notifications.send_order_confirmed": _("Mail: order confirmed"),
    "notifications.send_order_rejected": _("Mail: order rejected"),
    "notifications.send_order_cancelled": _("Mail: order cancelled"),
    "orders.record_sale": _("Book the sale"),
    "orders.record_cancellation": _("Book the cancellation"),
    "orders.cancel_overdue": _("Cancel the order, unless it is settled"),
    "orders.confirm_order": _("Confirm the order"),
    "orders.reject_order": _("Reject the order"),
}
_EVENTS: dict[str, Promise] = {
    "orders.order_placed": _("Order placed"),
    "orders.order_cancelled": _("Order cancelled"),
    "orders.confirmation_overdue": _("The time to confirm is over"),
    "inventory.stock_reserved": _("Stock is reserved"),
    "inventory.stock_rejected": _("Not enough stock"),
}
_STATES = {**PROGRESS_TEXTS, "dead": _("failed, a person must look")}  # "dead" is for operators
_PLAIN_STATES: dict[str, Promise] = {  # for customers, who can do nothing about the rest
    "waiting": _("in progress"),
    "queued": _("in progress"),
    "retrying": _("delayed; it is tried again by itself"),
    "done": _("done"),
    "dead": _("our team takes care of it"),
}
_COLOURS = {"waiting": "", "queued": "info", "retrying": "warning", "done": "success", "dead": "danger"}


@dataclass(frozen=True)
class Step:
    """One consumer's part, with its words for the reader."""

    progress: ConsumerProgress

    @property
    def title(self) -> Promise | str:
        """Return what the consumer does; of one that is new here, its name."""
        return _STEPS.get(self.progress.consumer, self.progress.consumer)

    @property
    def state(self) -> Promise:
        """Return the state in words."""
        return _STATES[self.progress.state]

    @property
    def plain_state(self) -> Promise:
        """Return the state in words for customers."""
        return _PLAIN_STATES[self.progress.state]

    @property
    def colour(self) -> str:
        """Return the state's colour in the admin, by unfold's name for it."""
        return _COLOURS[self.progress.state]

    @property
    def owner(self) -> str:
        """Return the team in charge, without its address: customers write to the shop."""
        return self.progress.owner.partition(" <")[0]

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more will come of it by itself."""
        return self.progress.state in ("done", "dead")


@dataclass(frozen=True)
class Stage:
    """One event and the steps that it set off."""

    event: str
    steps: tuple[Step, ...]

    @property
    def title(self) -> Promise | str:
        """Return what happened."""
        return _EVENTS.get(self.event, self.event)

    @property
    def is_done(self) -> bool:
        """Tell whether all of its steps are done."""
        return all(step.progress.state == "done" for step in self.steps)


@dataclass(frozen=True)
class Timeline:
    """All stages of one order. ``is_technical``: attempts, errors, owners and steps without a title are shown, too."""

    order: Order
    stages: tuple[Stage, ...]
    is_technical: bool = True

    @cached_property
    def steps(self) -> list[Step]:
        """Return the steps of all stages."""
        return [step for stage in self.stages for step in stage.steps]

    @property
    def done_count(self) -> int:
        """Return how many steps are done."""
        return sum(step.progress.state == "done" for step in self.steps)

    @property
    def step_count(self) -> int:
        """Return how many steps there are; until all is settled, how many to expect; 0 when none is kept any more."""
        return len(self.steps) if self.is_settled else max(len(self.steps), EXPECTED_STEPS)

    @property
    def has_failed(self) -> bool:
        """Tell whether a step waits for a person."""
        return any(step.progress.state == "dead" for step in self.steps)

    @property
    def is_settled(self) -> bool:
        """Tell whether the picture will change no more by itself.

        The follow-up of an event is stored by the commit that ends its step, so no moment between two looks settled.
        """
        return all(step.is_over for step in self.steps) and (self.order.is_final or self.has_failed)

    @property
    def digest(self) -> str:
        """Return the same short text as long as nothing changed: a page that has seen it needs no new picture."""
        seen = repr((self.order.status, self.order.needs_attention, self.stages))
        return hashlib.sha256(seen.encode()).hexdigest()[:16]


def timeline_of(order: Order, *, is_technical: bool = True) -> Timeline:
    """Look the order's way up, in a constant number of queries. Customers see the steps that have a title for them."""
    progress = progress_of(str(order.pk))
    shown = progress if is_technical else [part for part in progress if part.consumer in _STEPS]
    return Timeline(order, _stages(shown), is_technical)


def _stages(progress: Sequence[ConsumerProgress]) -> tuple[Stage, ...]:
    events = dict.fromkeys(part.event for part in progress)  # in order of appearance
    return tuple(Stage(event, tuple(Step(part) for part in progress if part.event == event)) for event in events)
