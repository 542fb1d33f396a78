"""One text per next step; ``wording`` fills in the values."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

STEPS: Final[dict[str, Promise]] = {
    "nothing": _("Nothing to do."),
    "wait": _("Wait: it goes on by itself."),
    "wait_until": _("Wait until %(at)s: it is tried again by itself."),
    "wait_for_reconciler": _("Wait a minute: the reconciler sends it again."),
    "wait_for_grace": _("Wait: the reconciler sends it again within a minute from %(at)s on, when it is old enough."),
    "wait_for_collector": _(
        "Wait: the reconciler sends it again when the collector has emptied the dead-letter queue."
    ),
    "wait_for_queue": _(
        "Wait: the reconciler sends it again when queue %(queue)s is empty, or ten later messages of it are processed."
    ),
    "wait_for_canary": _("Wait for the first letters of the replay, or release the rest in the desk."),
    "start_relay": _("Start or restart the relay."),
    "start_collector": _("Start or restart the collector of dead letters."),
    "start_beat": _("Start or restart beat."),
    "start_worker": _("Start a worker for queue %(queue)s."),
    "restart_worker": _("Restart worker %(worker)s."),
    "restart_broker": _("Bring the broker back. What is in the outbox waits safely; nothing is lost."),
    "restart_database": _("Bring the database back. Relay and workers go on by themselves."),
    "enlarge_broker": _("Give the broker memory or disk, or workers to empty its queues. The outbox keeps what waits."),
    "work_off_queue": _("Queue %(queue)s is full: give it workers, or find out why they do not keep up."),
    "migrate_queue": _("Give the queue the arguments that this release declares; nothing is lost on the way."),
    "read_refusal": _("Read why the broker refused it, mend the queue or deploy the release that knows it."),
    "resume": _("Resume it when the reason for the pause is gone."),
    "mend_dependency": _("Look at what it depends on (%(error)s). It is tried by itself, next at %(at)s."),
    "replay": _("Read the dead letter, mend the cause, then replay or discard it."),
    "decided": _("Nothing: a person has discarded it. It can be restored in the desk."),
    "repeat_work": _("Mend the cause, then ask for it again."),
    "mend_never_heard_of": _(
        "Compare the id with the page or the log. If it is right, its transaction never committed."
    ),
    "mend_row_was_deleted": _("Find out who deleted the row: its messages go on and will fail, or have."),
    "mend_row_without_message": _("The code that made the row did not publish: mend it, then publish by hand."),
    "mend_follow_up_missing": _("The consumer did not publish its answer: mend it, then publish by hand."),
    "mend_too_old_to_tell": _("Look at the row itself: its messages are no longer kept."),
}
