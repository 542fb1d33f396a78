"""Dead letters are told with the cause that triage would name: while it stands, a replay dies of it again."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Min

from baton_messaging.dead_letters.operations.groups import Group
from baton_messaging.diagnosis.former_keys import signer_is_gone
from baton_messaging.diagnosis.installation import recent_causes
from baton_messaging.diagnosis.triage.rules.causes import present_cause
from baton_messaging.diagnosis.why_dead import why_dead
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.models import DeadLetter, Heartbeat, OutboxMessage
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.models.heartbeat import Role


@dataclass(frozen=True)
class ExplainedGroup:
    """A group of equal failures, and what stands in its consumer's way now."""

    group: Group
    cause: Diagnosis | None

    @property
    def owner(self) -> str:
        """Return whose it is, as triage would say."""
        return owner_under(self.cause, self.group.owner)


def owner_under(cause: Diagnosis | None, owner: str) -> str:
    """Return whose a dead letter is: of what is in its consumer's way, else ``owner``, who decides about it anyway."""
    return str(cause.owner) if cause and cause.owner else owner


def explained(groups: Iterable[Group]) -> list[ExplainedGroup]:
    """Return the groups, each with the present cause of its failures if one is known."""
    return [ExplainedGroup(group, cause_now(group) if group.open_count else None) for group in groups]


def with_owners(dead_letters: Iterable[DeadLetter]) -> list[tuple[DeadLetter, str]]:
    """Return each with whose it is, by name, as group, page and alert say."""
    return [(one, owner_under(_cause_of_open(one), one.owner).partition(" <")[0]) for one in dead_letters]


def cause_now(dead: Group | DeadLetter) -> Diagnosis | None:
    """Return what stands in the way of a dead letter's consumer, or of a group's, now; None if nothing is known."""
    refusal = why_dead(dead.consumer, dead.reason, dead.error_class, dead.error_message)
    return present_cause(
        dead.consumer,
        dead.reason,
        recent_causes(),
        needs_of_consumers(),
        refusal=refusal,
        is_signer_gone=dead.reason == Reason.BAD_SIGNATURE and _is_signer_gone(dead),
    )


def _is_signer_gone(dead: Group | DeadLetter) -> bool:
    """Tell whether the outbox has one of them, and no relay that runs has signed it. Two queries."""
    own = {"pk": dead.pk} if isinstance(dead, DeadLetter) else {"fingerprint": dead.fingerprint, "state": State.OPEN}
    alike = DeadLetter.objects.filter(message_id__isnull=False, **own)
    ours = OutboxMessage.objects.filter(message_id__in=alike.values("message_id"))
    relays = Heartbeat.objects.fresh().filter(role=Role.RELAY).values_list("started_at", flat=True)
    return signer_is_gone(ours.aggregate(at=Min("published_at"))["at"], relays)


def _cause_of_open(dead_letter: DeadLetter) -> Diagnosis | None:
    return cause_now(dead_letter) if dead_letter.state == State.OPEN else None
