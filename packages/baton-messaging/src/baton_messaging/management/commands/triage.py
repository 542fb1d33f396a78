"""``manage.py triage``: how far did it get, and whose is it?"""

import json
import re
import sys
from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from celery import current_app
from django.core.management.base import CommandError, CommandParser

from baton_messaging.broker import transports
from baton_messaging.diagnosis.triage.gather.deadline import age_of_process_seconds, deadline_after
from baton_messaging.diagnosis.triage.lookup import BadId
from baton_messaging.diagnosis.triage.report import Answer, Report, triage_or_outage
from baton_messaging.diagnosis.triage.stuck import OLDER_THAN, Survey, survey_or_outage
from baton_messaging.management.command import BaseCommand

NEEDS_PERSON, BAD_INPUT = 1, 2

transports.preload(current_app.conf.broker_read_url or "")

_AGE = re.compile(r"([0-9]{1,5})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def age(text: str) -> timedelta:
    """Read "5m". Raises ArgumentTypeError."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"Expected a number and one of s, m, h, d, as in 5m or 99999d; got {text!r}.")
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


class Command(BaseCommand):
    help = (
        "Tell of an order, export, message or dead letter how far it got with each consumer, whose it is, and what to "
        "do next. Exit code: 0 all done, or it goes on by itself; 1 somebody must act; 2 bad input."
    )
    requires_system_checks: list[str] = []  # it answers at night, when the database may be away

    def add_arguments(self, parser: CommandParser) -> None:
        lookup = parser.add_mutually_exclusive_group(required=True)
        lookup.add_argument(
            "id", nargs="?", help="number or id of an order or export, id of a message, or number of a dead letter"
        )
        lookup.add_argument(
            "--stuck", action="store_true", help="instead: all that is not settled, by verdict and owner"
        )
        parser.add_argument("--older-than", type=age, default=OLDER_THAN, help="for --stuck: 90s, 5m (default), 2h, 1d")
        parser.add_argument("--owner", default="", help="for --stuck: part of a team's name or address")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def run_from_argv(self, argv: list[str]) -> None:
        """Run for somebody in a shell, who has waited for the process to start. ``call_command`` does not come here."""
        with deadline_after(age_of_process_seconds()):
            super().run_from_argv(argv)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = survey_or_outage(options["older_than"]) if options["stuck"] else triage_or_outage(options["id"])
        except BadId as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        if isinstance(found, Survey) and options["owner"]:
            found = found.of_owner(options["owner"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(found.as_dict(), indent=1, ensure_ascii=False))
        elif isinstance(found, Survey):
            self._tell_survey(found)
        else:
            self._tell(found)
        if found.needs_person:
            sys.exit(NEEDS_PERSON)

    def _tell_survey(self, found: Survey) -> None:
        at_least = "" if found.is_complete else "at least "
        self.stdout.write(f"{at_least}{found.count} older than {found.age} and not settled")
        if found.judged_count < found.count:
            self.stdout.write(f"        the oldest {found.judged_count} of them:")
        for group in found.groups:
            self.stdout.write(f"{group.count:>7}  {group.state_text}  {group.consumer}".rstrip())
            if group.cause:
                self.stdout.write(f"         cause   {group.cause} ({group.confidence})")
            self.stdout.write(f"         whose   {group.owner}")
            self.stdout.write(f"         oldest  {group.age}")
            self.stdout.write(f"         next    {group.next_step.text}")
            if group.next_step.command:
                self.stdout.write(f"                 {group.next_step.command}")
            self.stdout.write(f"         as in   {', '.join(group.examples)}")

    def _tell(self, report: Report) -> None:
        for answer in report.verdicts:
            self.stdout.write(f"{answer.consumer or report.id}: {answer.state_text}")
            self.stdout.write(f"  whose   {answer.owner}")
            self.stdout.write(f"  certain {answer.confidence_text}")
            for line in (*answer.evidence, *answer.open_questions):
                self.stdout.write(f"          {line}")
            self.stdout.write(f"  next    {answer.next_step.text}")
            self._tell_where(answer)
        for line in report.later:
            self.stdout.write(f"later     {line}")

    def _tell_where(self, answer: Answer) -> None:
        for more in (answer.next_step.command, answer.next_step.url):
            if more:
                self.stdout.write(f"          {more}")
