"""Rehearsal of a plan: the project starts with it in a process of its own, before a file is written.

The process reads the planned texts in place of the files, with the settings, the folders and the environment of this
one. What is missing there after the plan could not be placed, however it looked.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any, Final

from baton_messaging.adoption.source import PLANNED, Source

TIMEOUT_SECONDS: Final = 120
_ANSWER: Final = "baton_install rehearsal: "


@dataclass(frozen=True)
class Outcome:
    """What became of the project."""

    error: str = ""  # why it did not start
    missing: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()  # of ``manage.py check``


def rehearse(sources: Sequence[Source], root: Path) -> Outcome:
    """Start the project as it would be."""
    given = {
        "root": str(root),
        "path": sys.path,
        "files": {str(one.path.resolve()): base64.b64encode(one.result_bytes).decode() for one in sources},
    }
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "baton_messaging.adoption.rehearsal"],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            cwd=root,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return Outcome(error=f"it did not start within {TIMEOUT_SECONDS} s")
    for line in ended.stdout.splitlines():
        if line.startswith(_ANSWER):
            answer = json.loads(line.removeprefix(_ANSWER))
            return Outcome(missing=tuple(answer["missing"]), findings=tuple(answer["findings"]))
    said = ended.stderr.strip().splitlines()
    return Outcome(error=said[-1] if said else f"exit code {ended.returncode}")


class _Planned(SourceFileLoader):
    """Loads a planned text in place of its file."""

    def get_data(self, path: str) -> bytes:
        return PLANNED[Path(path)]

    def path_stats(self, path: str) -> Any:
        raise OSError  # nothing of it is cached


class _Finder:
    """Finds modules whose text is planned, be there a file or not."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        tail = name.rpartition(".")[2]
        for folder in path or sys.path:
            here = Path(folder or ".").resolve()
            for file, inside in ((here / tail / "__init__.py", [str(here / tail)]), (here / f"{tail}.py", None)):
                if file in PLANNED:
                    loader = _Planned(name, str(file))
                    return spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)
            if PathFinder.find_spec(name, [str(here)]) is not None:
                return None
        return None


def _perform() -> None:
    given = json.load(sys.stdin)
    sys.path[:] = given["path"]
    PLANNED.update({Path(path): base64.b64decode(text) for path, text in given["files"].items()})
    sys.meta_path.insert(0, _Finder)
    if os.environ.get("DJANGO_CONFIGURATION"):
        import configurations  # noqa: PLC0415 - only where the project has it

        configurations.setup()
    import django  # noqa: PLC0415
    from django.core.checks import ERROR, run_checks  # noqa: PLC0415

    django.setup()
    from baton_messaging.adoption.project import Project  # noqa: PLC0415 - needs Django's settings
    from baton_messaging.adoption.steps import plan_for  # noqa: PLC0415

    project = Project(Path(given["root"]))
    findings = [f"{found.id}: {found.msg}" for found in run_checks() if found.level >= ERROR]
    sys.stdout.write(f"\n{_ANSWER}{json.dumps({'missing': plan_for(project).missing, 'findings': findings})}\n")


if __name__ == "__main__":
    _perform()
