"""Texts of triage: one for each code of evidence, detail, open question and next step. ``wording`` fills them in."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

EVIDENCE: Final[dict[str, Promise]] = {
    # The row and its messages
    "row": _("%(kind)s %(id)s was made at %(at)s and is: %(status)s"),
    "row_gone": _("messages tell of %(kind)s %(id)s, but there is no such row"),
    "no_trace": _("%(id)s: neither a row, nor a message, nor a dead letter"),
    "no_outbox_row": _("the outbox has no %(event)s of it"),
    "contradiction": _("%(what)s: %(found)s"),
    "awaited": _("every message is processed, and yet none of these was published: %(events)s"),
    # The outbox
    "future": _("published %(at)s, to be sent at %(due_at)s"),
    "cancelled": _("cancelled %(at)s by %(by)s"),
    "cancelled_why": _("cancelled %(at)s by %(by)s: %(why)s"),
    "not_in_outbox": _("the outbox does not have it any more"),
    "published": _("published %(at)s, confirmed by the broker %(confirmed_at)s"),
    "sent_to_this_one": _("published %(at)s, confirmed for this consumer, not yet for all"),
    "in_outbox": _("published %(at)s, still in the outbox, %(count)s before it"),
    "refused": _("the broker refused it: %(error)s"),
    "producer_clock": _("the clock of the process that published it is %(seconds)s ahead of the database's"),
    "no_relay": _("no relay has sent a heartbeat"),
    "relay_alive": _("relay %(name)s: last heartbeat %(seconds)s ago"),
    "relay_idle": _("relay %(name)s lives, but gets nothing to the broker"),
    "relay_silent": _("relay %(name)s: no heartbeat for %(seconds)s"),
    "role_ended": _("no %(role)s runs; the last, %(name)s, ended %(at)s: %(by)s"),
    "broker_silent": _("the broker does not answer: %(error)s"),
    "broker_full": _("the broker is short of memory or disk: it takes no message"),
    # Attempts and holds
    "failed": _("failed, attempt %(number)s of %(max)s at %(at)s: %(error)s"),
    "sent_again": _("sent again %(at)s"),
    "due": _("due again at %(at)s"),
    "worker_clock": _("its next attempt was set %(seconds)s ahead, more than any backoff: the worker's clock is wrong"),
    "paused": _("paused by %(by)s since %(at)s: %(why)s"),
    "circuit": _("its last messages all failed on %(error)s: one at a time since %(at)s, next probe %(next_at)s"),
    "died": _("died %(at)s (%(reason)s, attempts: %(count)s): %(error)s"),
    "replay_requested": _("a replay was requested %(at)s"),
    # The broker
    "ahead": _("queue %(queue)s has %(count)s before it"),
    "taken": _("a worker has taken it from queue %(queue)s"),
    "depth": _("queue %(queue)s holds %(count)s, so at most these are before it"),
    "depth_of": _("queue %(queue)s holds %(count)s"),
    "not_in_queue": _("queue %(queue)s does not have it (%(count)s others), nor does a worker"),
    "overtaken": _("messages of its queue that were sent later, up to %(at)s, have been processed"),
    "uncollected": _("the dead-letter queue holds %(count)s that were not collected"),
    "in_dead_letter_queue": _("the broker moved it to the dead-letter queue"),
    "given_back": _("given back to its queue %(count)s times: a worker was killed, or hit the hard limit"),
    "no_collector": _("no collector has sent a heartbeat"),
    "collector_alive": _("collector %(name)s: last heartbeat %(seconds)s ago"),
    "collector_idle": _("collector %(name)s lives, but has no broker"),
    "collector_silent": _("collector %(name)s: no heartbeat for %(seconds)s"),
    "no_beat": _("no beat has sent a heartbeat, so the reconciler does not run"),
    "beat_alive": _("beat %(name)s: last heartbeat %(seconds)s ago"),
    "beat_idle": _("beat %(name)s lives, but has no broker"),
    "beat_silent": _("beat %(name)s: no heartbeat for %(seconds)s"),
    # The workers
    "strangers": _(
        "the broker counts %(count)s consumers of queue %(queue)s; workers with a heartbeat here: %(known)s"
    ),
    "lost_before": _("the reconciler has sent it again before: the broker had lost it at %(at)s, too"),
    "consumed": _("workers that consume queue %(queue)s: %(count)s, with %(running)s tasks in flight"),
    "last_finished": _("the last of them finished one %(seconds)s ago"),
    "nobody": _("no worker consumes queue %(queue)s"),
    "no_connection": _("the broker counts no consumer of queue %(queue)s"),
    "worker_idle": _("worker %(name)s is alive, but accepts no work"),
    "worker_silent": _("worker %(name)s: no heartbeat for %(seconds)s"),
    "running_since": _("worker %(worker)s has run it since %(at)s"),
    "reserved": _("worker %(worker)s has taken it and not begun"),
    "stood_still": _("nothing of worker %(worker)s ran for %(seconds)s until %(at)s: its machine stood still"),
    "waits_for_lock": _("its child has waited %(seconds)s for a lock that session %(pid)s of the database holds"),
    "lock_holder": _("session %(pid)s: %(application)s, user %(user)s, %(state)s since %(at)s"),
    "lock_statement": _("the last statement of session %(pid)s: %(statement)s"),
    "work_waiting": _("its own row waits for a worker"),
    "work_running": _("its own row: worker %(worker)s is at it since %(at)s, %(detail)s"),
    "work_failed": _("its own row: failed, %(detail)s"),
    "work_done": _("its own row: %(detail)s"),
    "work_lease": _("the lease of its row ends %(at)s"),
    "processed": _("processed %(at)s in %(ms)s ms by %(worker)s"),
    "cause": _("%(found)s"),
    "victims": _("the same keeps %(count)s others from their work: %(names)s"),
    "database_silent": _("the database does not answer: %(error)s"),
}

DETAILS: Final[dict[str, Promise]] = {
    "cause": _("%(found)s"),
    "done_but": _("but: %(what)s"),
    "never_heard_of": _("nothing is known of this id"),
    "row_was_deleted": _("a message tells of it"),
    "row_without_message": _("the row has no message"),
    "follow_up_missing": _("what it waits for was not published"),
    "forgotten": _("settled long ago"),
    "too_old_to_tell": _("older than what is kept"),
    "due_at": _("due at %(at)s"),
    "cancelled_by": _("by %(by)s at %(at)s"),
    "before_it": _("%(count)s before it"),
    "at_most_before_it": _("at most %(count)s before it"),
    "relay_does_nothing": _("a relay lives, and nothing leaves"),
    "relay_waits": _("a relay lives, and waits for a server"),
    "relay_is_dead": _("no relay lives"),
    "relay_ended": _("no relay lives; the last ended %(at)s: %(by)s"),
    "broker_away": _("the broker does not answer"),
    "broker_is_full": _("the broker is full"),
    "queue_is_full": _("queue %(queue)s is full"),
    "declared_otherwise": _("the broker has queue %(queue)s with other arguments"),
    "refused_by_broker": _("refused by the broker"),
    "next_attempt": _("%(number)s of %(max)s, next at %(at)s"),
    "pause": _("paused"),
    "open_circuit": _("open circuit"),
    "replay_planned": _("a replay that tries others first"),
    "reserved_by": _("taken by %(worker)s"),
    "children_hang": _("taken by %(worker)s, whose child processes begin nothing"),
    "taken_by_a_worker": _("taken by a worker"),
    "on_worker": _("on %(worker)s"),
    "waits_for_session": _(
        "waits for a lock of session %(pid)s: %(application)s, user %(user)s, %(state)s since %(at)s"
    ),
    "beyond_its_limit": _("beyond its hard limit"),
    "not_collected": _("not collected yet"),
    "no_reconciler": _("but no beat runs"),
    "no_worker_for_it": _("but no worker runs the reconciler"),
    "collector_first": _("once the dead letters are collected"),
    "takes_nothing": _("its worker accepts no work"),
    "not_connected": _("the broker counts no consumer"),
    "fell_silent": _("its worker fell silent"),
    "no_worker": _("no worker"),
    "last_worker": _("no worker runs; the last was %(name)s, which fell silent %(seconds)s ago"),
    "last_worker_ended": _("no worker runs; the last was %(name)s, which ended %(at)s: %(by)s"),
    "worker_starts": _("its worker %(name)s is starting"),
    "stranger": _("queue %(queue)s has a consumer that is not known here"),
    "lost_again": _("sent again, and gone again"),
    "not_sent_again": _("and still not sent again"),
    "lost_or_dead": _("lost, or given up by the broker"),
    "work_failed": _("%(detail)s"),
    "reason": _("%(reason)s"),
    "discarded": _("%(reason)s, discarded"),
    "taken_up": _("its worker is gone, it is taken up again"),
    "not_taken_up": _("its worker is gone, and no beat runs"),
    "table_locked": _("table %(table)s is locked"),
    "broker_not_heard": _("the broker does not answer, or this process had no time to hear it"),
    "database_not_heard": _("the database does not answer, or this process had no time to hear it"),
}

QUESTIONS: Final[dict[str, Promise]] = {
    "where_in_the_broker": _("Is it in the queue, and what is before it? The broker does not say: %(error)s"),
    "is_it_given_up": _("Is it among the %(count)s that wait in the dead-letter queue to be collected?"),
    "what_became_of_it": _("What became of it? Its rows are no longer kept."),
    "who_takes_it": _("Which process takes it? No worker that is known here has had it."),
    "is_the_row_there": _("Is the row there?"),
    "is_it_in_the_outbox": _("Is the message in the outbox, and was it published?"),
    "did_it_fail": _("Did it fail, how often, and on what?"),
    "is_it_dead": _("Is it dead?"),
    "is_it_done": _("Is it done?"),
}


STEPS: Final[dict[str, Promise]] = {
    "nothing": _("Nothing to do."),
    "remedy": _("%(remedy)s"),
    "wait": _("Wait: it goes on by itself."),
    "wait_until": _("Wait until %(at)s: it is tried again by itself."),
    "wait_until_due": _("Wait until %(at)s: it is sent then. Until then it can be cancelled or moved."),
    "wait_for_reconciler": _("Wait a minute: the reconciler sends it again."),
    "wait_for_grace": _("Wait: the reconciler sends it again within a minute from %(at)s on, when it is old enough."),
    "wait_for_collector": _(
        "Wait: the reconciler sends it again when the collector has emptied the dead-letter queue."
    ),
    "wait_for_queue": _(
        "Wait: the reconciler sends it again when queue %(queue)s is empty, or ten later messages of it are processed."
    ),
    "wait_for_canary": _("Wait for the first dead letters of the replay, or release the rest in the desk."),
    "start_relay": _("Start or restart the relay. If it ends again, its log says why."),
    "start_relay_again": _("Mend what ended the last relay (%(by)s), then start one."),
    "look_at_relay": _("See what the relay waits for: the doctor and its log say it. It goes on by itself."),
    "start_collector": _("Start or restart the collector of dead letters. If it ends again, its log says why."),
    "start_beat": _("Start or restart beat. If it ends again, its log says why."),
    "start_worker": _("Start a worker for queue %(queue)s."),
    "end_session": _(
        "Ask whose session %(pid)s is, and end it: what it has changed is rolled back. The message goes on by itself."
    ),
    "end_table_lock": _(
        "Let session %(pid)s end, if it is a migration that goes on; end it, if it was forgotten. Then ask again."
    ),
    "end_prepared": _("Find the prepared transaction that nobody ended, and commit it or roll it back."),
    "restart_worker": _("Restart worker %(worker)s."),
    "start_worker_again": _(
        "Start a worker for queue %(queue)s. Worker %(name)s was killed, or it hangs: then end it first."
    ),
    "find_stranger": _(
        "Find what else consumes queue %(queue)s: a worker with another database, signing key or release. Stop it, or "
        "give it this installation's settings."
    ),
    "run_reconciler": _("Run the reconciler by hand and read what keeps it from sending the message again."),
    "restart_broker": _("Bring the broker back. What is in the outbox waits safely; nothing is lost."),
    "ask_again": _("Ask again, or on another machine: this one is too busy to tell who is silent."),
    "enlarge_broker": _("Give the broker memory or disk, or workers to empty its queues. The outbox keeps what waits."),
    "work_off_queue": _("Queue %(queue)s is full: give it workers, or find out why they do not keep up."),
    "migrate_queue": _("Give the queue the arguments that this release declares; nothing is lost on the way."),
    "read_refusal": _("Read why the broker refused it, mend the queue or deploy the release that knows it."),
    "resume": _("Resume it when the reason for the pause is gone."),
    "mend_dependency": _("Look at what it depends on (%(error)s). It is tried by itself, next at %(at)s."),
    "replay": _("Read the dead letter, mend the cause, then replay or discard it."),
    "replay_signed_anew": _("All processes that are known here sign with one key now: replay it."),
    "decided": _("Nothing: a person has discarded it. It can be restored in the desk."),
    "repeat_work": _("Fix the cause, then ask for it again."),
    "mend_never_heard_of": _(
        "Compare the id with the page or the log. If it is right, its transaction never committed."
    ),
    "mend_row_was_deleted": _("Find out who deleted the row: its messages go on and will fail, or have."),
    "mend_row_without_message": _("The code that made the row did not publish: mend it, then publish by hand."),
    "mend_follow_up_missing": _("The consumer did not publish its answer: mend it, then publish by hand."),
    "mend_too_old_to_tell": _("Look at the row itself: its messages are no longer kept."),
}
