"""Triage for scripts: mounts "whose is it?" beside the API of the rows that it is asked about. For staff."""

from datetime import datetime
from typing import Annotated, Any, Final

from django.http import HttpRequest
from ninja import Path, Router, Schema
from ninja.errors import HttpError
from ninja.responses import Status as Answer
from ninja.security import django_auth_is_staff
from pydantic import BaseModel

from baton_messaging.audit.rights import Right
from baton_messaging.diagnosis.triage.lookup import AmbiguousId, BadId
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.ui.api.rights import demand
from baton_messaging.ui.api.schemas import Refusal

_VOWELS: Final = "aeiou"


class NextStepOut(Schema):
    """What to do next: a sentence, and where it applies a command and the path of a page."""

    text: str
    command: str
    url: str


class CauseOut(Schema):
    """What keeps the message from going on, where that is not on its own way; ``victims`` wait for the same."""

    about: str
    what: str
    found: str
    owner: str
    since: datetime | None
    victims: list[str]

    @staticmethod
    def resolve_victims(cause: dict[str, Any]) -> list[str]:
        """Return what they are about."""
        return [victim["about"] for victim in cause["victims"]]


class VerdictOut(Schema):
    """How far one message got with one consumer. ``consumer`` is empty where the row itself is meant."""

    consumer: str
    event: str
    message_id: str
    state: str
    state_text: str
    owner_name: str
    owner_email: str
    evidence: list[str]
    open_questions: list[str]
    next_step: NextStepOut
    needs_person: bool
    confidence: str
    cause: CauseOut | None


class TriageOut(Schema):
    """All verdicts on one id."""

    id: str
    asked_at: datetime
    needs_person: bool
    verdicts: list[VerdictOut]
    later: list[str]


def router_for(kind: str, *, refusal: type[Schema | BaseModel] = Refusal, operation_id: str | None = None) -> Router:
    """Return a router with ``GET /{<kind>_id}/triage`` for a kind of rows, by their id or by what people call them.

    Mount it where the kind's own API is: ``api.add_router("/orders", router_for("order"))``. ``kind`` is the name that
    the app registered (``baton_messaging.extend.triage``). ``refusal`` is the schema of the project's refusals, and
    ``operation_id`` the name of the operation in the OpenAPI schema: both change what is documented, and no answer.
    """
    named = f"{'an' if kind[0] in _VOWELS else 'a'} {kind}"
    router = Router(tags=[f"{kind}s"], auth=django_auth_is_staff)

    @router.get(
        f"/{{{kind}_id}}/triage",
        response={200: TriageOut, 401: refusal, 403: refusal, 404: refusal, 409: refusal},
        summary="See whose it is",
        description=(
            "Return one verdict per message and consumer, with evidence, owner and next step. For staff.\n\n"
            f"Takes the id, or the number that pages and mails call {named} by. 404 when neither {named} nor a message "
            "has it, 409 when several are called so: their ids are in the detail."
        ),
        operation_id=operation_id,
    )
    def triage_subject(request: HttpRequest, subject_id: Annotated[str, Path(alias=f"{kind}_id")]) -> Answer[TriageOut]:
        demand(request, Right.SEE_TRIAGE)
        try:
            report = triage(subject_id)
        except AmbiguousId as several:
            raise HttpError(409, str(several)) from several
        except BadId as error:
            raise HttpError(404, str(error)) from error
        if report.is_unheard_of:
            raise HttpError(404, f"Expected the id of {named}, found none with {subject_id}.")
        return Answer(200, TriageOut.model_validate(report.as_dict()))

    return router
