"""``manage.py dead_letters``: the desk for a terminal, through the same functions as the admin and the API."""

import time
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import BadText, OperationRefused
from baton_messaging.dead_letters.operations.discard import discard, restore
from baton_messaging.dead_letters.operations.edit import check_edit, edit_and_replay
from baton_messaging.dead_letters.operations.errors import BadSelection
from baton_messaging.dead_letters.operations.groups import groups_of
from baton_messaging.dead_letters.operations.redirect import redirect
from baton_messaging.dead_letters.operations.replay import advance, release, replay, stop
from baton_messaging.dead_letters.operations.replay_plan import dry_run
from baton_messaging.dead_letters.operations.replay_progress import progress_of
from baton_messaging.dead_letters.operations.resolve import resolve_applied
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.management.command import BaseCommand
from baton_messaging.models import AuditEntry, DeadLetter, Replay
from baton_messaging.ui.terminal.arguments import FILTERS, add_verbs
from baton_messaging.ui.terminal.tables import (
    as_json,
    as_table,
    audit_row,
    dead_letter_details,
    dead_letter_row,
    width_of,
)

USAGE, REFUSED = 2, 1
WAIT_SECONDS = 1.0
_LIST_COLUMNS = ("id", "died_at", "state", "reason", "consumer", "key", "error")
_GROUP_COLUMNS = ("open", "requested", "last_at", "reason", "consumer", "group", "error")
_AUDIT_COLUMNS = ("at", "actor", "via", "action", "outcome", "dead_letter_count", "why")


class Command(BaseCommand):
    help = "Look at dead letters and decide what becomes of them. Exit codes: 0 done, 1 refused, 2 wrong usage."

    def add_arguments(self, parser: CommandParser) -> None:
        add_verbs(parser)

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        resolve_applied()
        run: Callable[[dict[str, Any]], None] = getattr(self, f"_{verb}")
        try:
            run(options)
        except (BadSelection, BadText) as refusal:
            raise CommandError(str(refusal), returncode=USAGE) from refusal
        except OperationRefused as refusal:
            raise CommandError(str(refusal), returncode=REFUSED) from refusal

    def _list(self, options: dict[str, Any]) -> None:
        dead_letters = (
            _selection(options).dead_letters().defer("traceback", "envelope", "raw").order_by("-died_at", "-pk")
        )
        self._print_rows(
            [dead_letter_row(dead_letter) for dead_letter in dead_letters[: options["limit"]]], _LIST_COLUMNS, options
        )

    def _groups(self, options: dict[str, Any]) -> None:
        rows = [
            {
                **vars(group),
                "open": group.open_count,
                "requested": group.requested_count,
                "group": group.fingerprint[:12],
            }
            | {"error": f"{group.error_class}: {group.error_message}"}
            for group in groups_of(DeadLetter.objects.all())
        ]
        self._print_rows(rows, _GROUP_COLUMNS, options)

    def _show(self, options: dict[str, Any]) -> None:
        details = dead_letter_details(_dead_letter(options["id"]))
        if options["format"] == "json":
            self.stdout.write(as_json(details))
            return
        for name, value in details.items():
            shown = as_json(value) if isinstance(value, dict) else value
            self.stdout.write(f"{name}: {'' if shown is None else shown}")

    def _replay(self, options: dict[str, Any]) -> None:
        selection = _selection(options)
        if options["dry_run"]:
            plan = dry_run(selection)
            text = "\n".join(sentence for _fate, sentence in plan.sentences()) or "Nothing matches."
            self._print(plan.as_dict(), text, options)
            return
        pace = {name: options[name] for name in ("canary_count", "rate_per_second", "may_repeat", "why")}
        order = replay(selection, actor=Actor.of_shell(), **pace)
        if options["wait"]:
            self._wait_for(order.pk)
        self._progress({**options, "replay": order.pk})

    def _wait_for(self, replay_id: int) -> None:
        while True:
            resolve_applied()
            advance()
            order = Replay.objects.get(pk=replay_id)
            if progress_of(order).is_over_for(order):
                return
            time.sleep(WAIT_SECONDS)

    def _progress(self, options: dict[str, Any]) -> None:
        order = Replay.objects.filter(pk=options["replay"]).first()
        if order is None:
            raise BadSelection(f"Expected the number of a replay, got {options['replay']}, which does not exist.")
        progress = progress_of(order)
        found = {"replay": order.pk, **vars(progress), "stopped_because": order.stopped_because}
        text = (
            f"Replay {order.pk}: {progress.resolved} resolved, {progress.under_way} on their way, "
            f"{progress.held} held back, {progress.died} died again. {order.stopped_because}"
        )
        self._print(found, text.strip(), options)

    def _stop(self, options: dict[str, Any]) -> None:
        self._print_count(stop(options["replay"], actor=Actor.of_shell(), why=options["why"]), "open again", options)

    def _release(self, options: dict[str, Any]) -> None:
        self._print_count(release(options["replay"], actor=Actor.of_shell(), why=options["why"]), "requested", options)

    def _discard(self, options: dict[str, Any]) -> None:
        count = discard(_selection(options), actor=Actor.of_shell(), why=options["why"])
        self._print_count(count, "discarded", options)

    def _restore(self, options: dict[str, Any]) -> None:
        count = restore(_selection(options), actor=Actor.of_shell(), why=options["why"])
        self._print_count(count, "open again", options)

    def _redirect(self, options: dict[str, Any]) -> None:
        count = redirect(_selection(options), to=options["to"], actor=Actor.of_shell(), why=options["why"])
        self._print_count(count, f"moved to {options['to']}", options)

    def _edit(self, options: dict[str, Any]) -> None:
        dead_letter = _dead_letter(options["id"])
        edit = check_edit(dead_letter, options["payload"], version=options["event_version"])
        found = [vars(difference) for difference in edit.differences]
        if options["dry_run"]:
            self._print_rows(found, ("path", "before", "after"), options)
            return
        copy = edit_and_replay(
            dead_letter.pk,
            options["payload"],
            actor=Actor.of_shell(),
            why=options["why"],
            version=options["event_version"],
        )
        text = f"Dead letter {copy.pk} is the copy; its replay is requested."
        self._print({"copy": copy.pk, "differences": found}, text, options)

    def _audit(self, options: dict[str, Any]) -> None:
        entries = AuditEntry.objects.order_by("-pk")[: options["limit"]]
        self._print_rows([audit_row(entry) for entry in entries], _AUDIT_COLUMNS, options)

    def _print_rows(self, rows: list[dict[str, Any]], columns: tuple[str, ...], options: dict[str, Any]) -> None:
        self._print(rows, as_table(rows, columns, width=width_of(self.stdout)) if rows else "None.", options)

    def _print_count(self, count: int, what: str, options: dict[str, Any]) -> None:
        self._print({"dead_letter_count": count}, f"{count} {what}.", options)

    def _print(self, value: Any, text: str, options: dict[str, Any]) -> None:
        self.stdout.write(as_json(value) if options["format"] == "json" else text)


def _selection(options: dict[str, Any]) -> Selection:
    values: dict[str, Any] = {name: options[name] for name in FILTERS}
    return Selection.of({**values, "ids": options["ids"] or None, "replay": options["of_replay"]})


def _dead_letter(dead_letter_id: int) -> DeadLetter:
    dead_letter = DeadLetter.objects.filter(pk=dead_letter_id).first()
    if dead_letter is None:
        raise BadSelection(f"Expected the number of a dead letter, got {dead_letter_id}, which does not exist.")
    return dead_letter
