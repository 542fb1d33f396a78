"""Dead letters are told with the cause that triage would name: while it stands, a replay dies of it again."""

from collections.abc import Iterable
from dataclasses import dataclass

from baton_messaging.dead_letters.operations.groups import Group
from baton_messaging.diagnosis.installation import recent_causes
from baton_messaging.diagnosis.triage.rules.causes import present_cause
from baton_messaging.diagnosis.why_dead import why_dead
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import State


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
        dead.consumer, dead.reason, recent_causes(), needs_of_consumers(), refusal=refusal, is_ours=_is_ours(dead)
    )


def _is_ours(dead: Group | DeadLetter) -> bool:
    """Tell whether the outbox has sent one of them: what has a message id was recorded from there."""
    if isinstance(dead, DeadLetter):
        return dead.message_id is not None
    return DeadLetter.objects.open().filter(fingerprint=dead.fingerprint, message_id__isnull=False).exists()


def _cause_of_open(dead_letter: DeadLetter) -> Diagnosis | None:
    return cause_now(dead_letter) if dead_letter.state == State.OPEN else None
