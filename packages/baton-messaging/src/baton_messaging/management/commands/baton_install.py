"""``manage.py baton_install``: put what Baton needs into a project that exists, and show it before."""

import sys
from pathlib import Path
from typing import Any

from django.core.management import base
from django.core.management.base import CommandError, CommandParser

from baton_messaging.adoption.placing import Plan
from baton_messaging.adoption.project import Project
from baton_messaging.adoption.rehearsal import rehearse
from baton_messaging.adoption.source import Source, Unreadable
from baton_messaging.adoption.steps import plan_for
from baton_messaging.adoption.writing import Unwritable, refuse_unwritable, way_back, write


class Command(base.BaseCommand):  # not ours: that one asks for BATON, which this one brings
    help = (
        "Put what Baton needs into this project's settings, URLs and Celery application: shows the diff, asks, writes. "
        "What it cannot place it prints. Exit code: 0 all is there, or was written; 1 something is missing."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--check", action="store_true", help="for CI: change nothing, and name what is missing")
        way.add_argument("--dry-run", action="store_true", help="show the diff, and change nothing")
        way.add_argument("--yes", action="store_true", help="write without asking")

    def handle(self, *args: Any, check: bool, dry_run: bool, yes: bool, **options: Any) -> None:
        script = Path(sys.argv[0]).resolve()
        project = Project(script.parent if script.suffix == ".py" else Path.cwd())
        try:
            plan = plan_for(project)
            sources = plan.changed
            if check:
                self._name_missing(plan)
                return
            self._show(plan, sources, project)
            if sources:
                refuse_unwritable(sources)
                self._rehearse(sources, project, plan)
                if not dry_run and (yes or self._is_wanted()):
                    write(sources)
                    self.stdout.write(self.style.SUCCESS(f"Written: {_names(sources, project)}."))
                else:
                    self.stdout.write("Nothing was written.")
        except (Unreadable, Unwritable) as error:
            raise CommandError(
                f"{error} Nothing was written." if isinstance(error, Unreadable) else str(error)
            ) from error
        if plan.by_hand and not dry_run:
            raise CommandError(f"Left for you to place: {len(plan.by_hand)}, see above.")

    def _name_missing(self, plan: Plan) -> None:
        left = [str(one) for one in plan.by_hand]
        if plan.missing or left:
            names = "".join(f"\n  {name}" for name in [*plan.missing, *left])
            raise CommandError(f"Missing, run `manage.py baton_install`:{names}")
        self.stdout.write("All is there.")

    def _show(self, plan: Plan, sources: list[Source], project: Project) -> None:
        styles = {"+++": self.style.MIGRATE_HEADING, "---": self.style.MIGRATE_HEADING, "@@": self.style.HTTP_INFO}
        styles |= {"+": self.style.SUCCESS, "-": self.style.ERROR}
        for source in sources:
            for line in source.diff(project.root):
                style = next((style for start, style in styles.items() if line.startswith(start)), str)
                self.stdout.write(style(line))
        if plan.by_hand:
            self.stdout.write(self.style.WARNING("\nTo be placed by you:"))
        for one in plan.by_hand:
            self.stdout.write(f"\n{one}")
        if not sources:
            self.stdout.write("\nNothing to write." if plan.by_hand else "All is there: nothing to write.")

    def _rehearse(self, sources: list[Source], project: Project, plan: Plan) -> None:
        outcome = rehearse(sources, project.root)
        self.stdout.write("")
        if outcome.error:
            raise CommandError(
                f"In a rehearsal the project did not start with these changes: {outcome.error}. Nothing was written: "
                "place by hand what fits."
            )
        lost = [name for name in outcome.missing if name not in plan.left]
        if lost:
            raise CommandError(
                f"In a rehearsal these changes had no effect on {', '.join(lost)}: your settings get their values "
                "elsewhere. Nothing was written: place the lines of the diff there."
            )
        for finding in outcome.findings:
            self.stdout.write(self.style.WARNING(f"Then manage.py check will say: {finding}"))
        if warning := way_back(project.root, sources):
            self.stdout.write(self.style.WARNING(warning))

    def _is_wanted(self) -> bool:
        self.stdout.write("Write this? [y/N] ", ending="")
        self.stdout.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def _names(sources: list[Source], project: Project) -> str:
    return ", ".join(
        str(one.path.relative_to(project.root) if one.path.is_relative_to(project.root) else one.path)
        for one in sources
    )
