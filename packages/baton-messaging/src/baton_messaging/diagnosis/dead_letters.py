"""Dead letters are told with the cause that triage would name: while it stands, a replay dies of it again."""

from collections.abc import Iterable
from dataclasses import dataclass

from baton_messaging.dead_letters.operations.groups import Group
from baton_messaging.diagnosis.installation import recent_causes
from baton_messaging.diagnosis.triage.rules.causes import Death, cause_of_death
from baton_messaging.health.dependencies import needs_of_consumers
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.models import DeadLetter


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
    return [ExplainedGroup(group, cause_of_group(group) if group.open_count else None) for group in groups]


def cause_of_group(group: Group) -> Diagnosis | None:
    """Return the present cause of a group's failures, None if none is known."""
    return cause_of_death(_death(group), recent_causes(), needs_of_consumers())


def cause_of_dead_letter(dead_letter: DeadLetter) -> Diagnosis | None:
    """Return the present cause of one dead letter, None if none is known."""
    return cause_of_death(_death(dead_letter), recent_causes(), needs_of_consumers())


def _death(dead: Group | DeadLetter) -> Death:
    return Death(dead.consumer, dead.reason, dead.error_class)
