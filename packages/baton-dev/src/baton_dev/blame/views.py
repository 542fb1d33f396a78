"""Views answer, one after the other, in one process: each line of standard input asks one, each answer is a line.

    {"view": "triage", "words": ["<id>"]}  ->  {"code": 1, "said": {…}}

``code`` is the exit code of a command. What a view raises is an answer, too: ``{"error": "…"}``.
"""

import json
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any, Final
from uuid import UUID

import django
from django.core.management import call_command
from django.db import connection
from django.db.models import Q
from django.template.loader import render_to_string


def triage(subject_id: str) -> dict[str, Any]:
    return _command_in_json("triage", subject_id)


def stuck() -> dict[str, Any]:
    return _command_in_json("triage", "--stuck", "--older-than=1s")


def doctor() -> dict[str, Any]:
    return _command_in_json("doctor")


def alive(role: str, name: str) -> dict[str, Any]:
    code, text = _command("alive", role, *([name] if name else []))
    return {"code": code, "said": text.strip()}


def progress(subject_id: str) -> dict[str, Any]:
    """Return what a row's own page and API show of its messages; of the id of a message they show nothing."""
    from baton_messaging.diagnosis.progress import progress_of

    told = [{"consumer": one.consumer, "state": one.state, "owner": one.owner} for one in progress_of(subject_id)]
    return {"said": told}


def reconciler() -> dict[str, Any]:
    """Return how many messages of each consumer the reconciler would send again now."""
    from baton_messaging.recovery.reconciler import reconcile

    outcome = reconcile(dry_run=True)
    return {"said": outcome.lost, "error": outcome.broker_error}


def board() -> dict[str, Any]:
    """Return what the board lists as problems, and not what it has seen seconds ago: that was another fault."""
    from baton_messaging.diagnosis import installation
    from baton_messaging.diagnosis.problems import problems

    installation.forget()
    return {"said": {"lines": [problem.as_dict() for problem in problems()]}}


def desk(subject_id: str) -> dict[str, Any]:
    """Return the owners of the dead letters about the id, as the desk shows them."""
    from baton_messaging.diagnosis.dead_letters import cause_now, owner_under
    from baton_messaging.models import DeadLetter

    told = [
        {"consumer": one.consumer, "owner": owner_under(cause_now(one), one.owner), "reason": one.reason}
        for one in DeadLetter.objects.filter(_about(subject_id))
    ]
    return {"said": told}


def alert(subject_id: str) -> dict[str, Any]:
    """Return whom an alert about the id's open dead letters would go to, and what it would say."""
    from baton_messaging.dead_letters.alerts import Alert
    from baton_messaging.dead_letters.operations.groups import groups_of
    from baton_messaging.diagnosis.dead_letters import cause_now
    from baton_messaging.models import DeadLetter

    told = []
    for group in groups_of(DeadLetter.objects.open().filter(_about(subject_id))):
        one = Alert("new", group, cause_now(group))
        text = render_to_string("baton_messaging/mail/alert.txt", {"alert": one, "group": group})
        told.append({"consumer": group.consumer, "owner": one.owner.name, "text": text})
    return {"said": told}


LOCK_SECONDS: Final = 2
VIEWS: Final[dict[str, Callable[..., dict[str, Any]]]] = {
    view.__name__: view for view in (triage, stuck, progress, doctor, board, desk, alert, reconciler, alive)
}


def _about(subject_id: str) -> Q:
    if subject_id.isdigit():
        return Q(pk=int(subject_id))
    return Q(key=subject_id) | Q(message_id=UUID(subject_id))


def _command_in_json(*words: str, **options: Any) -> dict[str, Any]:
    code, text = _command(*words, format="json", **options)
    return {"code": code, "said": json.loads(text)}


def _command(*words: str, **options: Any) -> tuple[int, str]:
    out, code = StringIO(), 0
    try:
        call_command(*words, stdout=out, **options)
    except SystemExit as end:  # a person must act
        code = int(end.code or 0)
    return code, out.getvalue()


def main() -> None:
    """Answer until standard input ends. What waits for a lock gives up, as a web server gives up a page."""
    django.setup()
    options = connection.settings_dict["OPTIONS"]
    options["options"] = f"{options.get('options', '')} -c lock_timeout={LOCK_SECONDS}s".strip()
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = VIEWS[request["view"]](*request["words"])
        except Exception as error:  # a page would be a 500, a command a traceback
            answer = {"error": f"{type(error).__name__}: {error}"}
        finally:
            connection.close()
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
