"""Files of a made project: the scaffold's as they stand, the scaffold's with edits, and those of ``template/``.

What both projects have has one source, the scaffold's own file. Invariant: an edit finds what it replaces exactly once.
A scaffold that has changed there ends the making with an error, and makes nothing else unnoticed.
"""

import ast
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from baton_dev.new.lock import normalised

TEMPLATE: Final = Path(__file__).parent / "template"
_SUFFIX: Final = "-tpl"  # else tools that look for modules would take them for some
_VARIABLES_FILE: Final = "config/env/variables.py"

#: As they stand in the scaffold.
SAME: Final = (
    ".gitignore",
    "manage.py",
    "config/__init__.py",
    "config/celery.py",
    "config/env/__init__.py",
    "config/env/reachability.py",
    "config/logs.py",
    "config/management/commands/seed.py",
    "config/settings/baton.py",
    "config/settings/celery.py",
    "config/settings/database.py",
    "config/wsgi.py",
)
#: Variables of the scaffold's that a made project reads, too: all but Flower's, the samples' and those of tracing.
VARIABLES: Final = (
    *("DATABASE_URL", "DATABASE_OWNER_URL", "CELERY_BROKER_URL", "EMAIL_URL", "DEFAULT_FROM_EMAIL"),
    *("DJANGO_DEBUG", "DJANGO_SECRET_KEY", "DJANGO_SECRET_KEY_FALLBACKS", "DJANGO_ALLOWED_HOSTS"),
    *("DJANGO_TRUSTED_ORIGINS", "DJANGO_HSTS_SECONDS", "PROXY_COUNT", "WEB_HOST", "WEB_PORT", "PUBLIC_URL"),
    *("WEB_PROCESSES", "WEB_THREADS", "WEB_KEEP_ALIVE_SECONDS", "METRICS_TOKEN", "BATON_RELEASE", "BATON_STATE_DIR"),
    *("BATON_ADMIN_PASSWORD", "BATON_DRAIN_SECONDS", "POSTGRES_PORT", "VALKEY_PORT"),
)
#: Packages that a made project names; how new each has to be stands in the scaffold's pyproject.toml.
PACKAGES: Final = (
    *("baton-messaging", "django", "psycopg", "pydantic", "dj-database-url", "django-celery-results", "django-htmx"),
    *("gunicorn", "whitenoise"),
)
DEV_PACKAGES: Final = ("pytest", "pytest-django", "pytest-timeout", "ruff")
#: What a made project has otherwise: (what stands in the scaffold's file, what is put there).
EDITS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    _VARIABLES_FILE: (
        (
            'smtps://, file:///folder, "\n'
            '        "console://. ?timeout=10: seconds to wait for each answer of a server. ',
            'smtps://. "\n        "',
        ),
        ("shop@example.com", "@@project@@@example.com"),
        *((f": {name} =", ": str =") for name in ("BrokerUrl", "MailUrl", "Sender", "Token")),
        *((f": {name} =", ": List =") for name in ("HostNames", "Origins")),
    ),
    "config/settings/security.py": (
        ("from datetime import timedelta\n", ""),
        ("  # config/web/client_address.py", "  # proxies (count) in front"),
        (
            "  # Prometheus asks the process, not the proxy; /healthz: config/web/probes.py",
            "  # asked of the process, not the proxy",
        ),
        ('r"^metrics$"', 'r"^(healthz|readyz|metrics)$"'),
        ("the largest order (100 lines) is about 12 kB", "enough for any form; a file needs another way"),
        ('DEFAULT_EXCEPTION_REPORTER = "config.web.error_report.ErrorReporter"\n', ""),
        ('DEFAULT_EXCEPTION_REPORTER_FILTER = "config.web.error_report.ErrorReportFilter"\n', ""),
        ('CSRF_FAILURE_VIEW = "config.web.error_pages.csrf_failure"\n\n', ""),
    ),
    "Makefile": ((".python-ready $(VENV)/.run-ready $(VENV)/.dev-ready", ".python-ready $(VENV)/.ready"),),
}


class ScaffoldChanged(RuntimeError):
    """The scaffold no longer has what is taken from it."""


def project_files(scaffold: Path, *, project: str, app: str) -> dict[str, str]:
    """Return the text of each file of a made project; all but locks, wheels and `.env.example`."""
    words = {
        "app": app,
        "App": app.replace("_", " ").capitalize(),
        "APP": app.upper(),
        "project": project,
        "Project": project.replace("_", " ").capitalize(),
    }
    of_template = {
        path.relative_to(TEMPLATE).as_posix().removesuffix(_SUFFIX): path.read_text()
        for path in TEMPLATE.rglob(f"*{_SUFFIX}")
    }
    same = {name: (scaffold / name).read_text() for name in SAME}
    security = {"config/settings/security.py": _security(scaffold)}
    texts = {**of_template, **security, **same}
    filling = {**_parts(scaffold), **words}
    return {_place(name, app): _filled(text, filling) for name, text in texts.items()}


def dependencies(scaffold: Path) -> dict[str, list[str]]:
    """Return what the project names in its two groups, as the scaffold does."""
    project = tomllib.loads((scaffold / "pyproject.toml").read_text())
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]

    def lines(names: tuple[str, ...]) -> list[str]:
        found = {name: [line for line in named if _package_in(line) == name] for name in names}
        if lost := [name for name, lines in found.items() if not lines]:
            raise ScaffoldChanged(f"pyproject.toml of the scaffold names no {', '.join(lost)}.")
        return [line for name in names for line in found[name]]

    return {"project": lines(PACKAGES), "dev": ["baton-dev", *lines(DEV_PACKAGES)]}


def _package_in(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    return normalised(name[0]) if name else ""


def _place(name: str, app: str) -> str:
    """Return where a file of the template goes: its folder ``app`` is the app's."""
    if name.startswith("app/templates/"):
        return f"{app}/templates/{app}/{name.removeprefix('app/templates/')}"
    return name.replace("app/", f"{app}/", 1) if name.startswith("app/") else name.replace("@@app@@", app)


def _filled(text: str, filling: Mapping[str, str]) -> str:
    for word, value in filling.items():  # parts first: they hold words themselves
        text = text.replace(f"@@{word}@@", value)
    return text


def _parts(scaffold: Path) -> dict[str, str]:
    """Return what the template takes from the middle of the scaffold's files."""
    needed = {group: "\n".join(f'  "{line}",' for line in lines) for group, lines in dependencies(scaffold).items()}
    pyproject = (scaffold / "pyproject.toml").read_text()
    return {
        "variables": _variables(scaffold),
        "set-up": _edited(
            "Makefile", _between((scaffold / "Makefile").read_text(), "# --- Set-up", "# The installer shows")
        ).strip(),
        "ruff": _between(pyproject, "[tool.ruff]", "[tool.ruff.lint.per-file-ignores]").strip(),
        "dependencies": needed["project"],
        "dev-dependencies": needed["dev"],
    }


def _variables(scaffold: Path) -> str:
    """Return the fields of the variables that a made project has, in the scaffold's words."""
    source = (scaffold / _VARIABLES_FILE).read_text()
    (environment,) = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    fields = {
        node.target.id: ast.get_source_segment(source, node) or ""
        for node in environment.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    if lost := set(VARIABLES) - set(fields):
        raise ScaffoldChanged(f"{_VARIABLES_FILE} of the scaffold has no {', '.join(sorted(lost))}.")
    text = _edited(_VARIABLES_FILE, "\n    ".join(fields[name] for name in fields if name in VARIABLES))
    for name, simple in (("DatabaseUrl", "str"), ("PublicUrl", "str"), ("OptionalPort", "Port | None")):
        text = text.replace(f": {name} =", f": {simple} =")
    return text.replace("https://shop.", "https://www.")


def _security(scaffold: Path) -> str:
    """Return the settings without the throttling of logins, which is an app of its own (docs/start.md)."""
    text = (scaffold / "config/settings/security.py").read_text()
    throttling = _between(text, "# --- Logging in", "DATA_UPLOAD_MAX_MEMORY_SIZE")
    return _edited("config/settings/security.py", text.replace(throttling, ""))


def _between(text: str, first: str, last: str) -> str:
    """Return the text from the one place on, up to the other."""
    _, found, rest = text.partition(first)
    middle, end, _ = rest.partition(last)
    if not found or not end:
        raise ScaffoldChanged(f"Expected {first!r} and {last!r} in the scaffold, found neither or one.")
    return found + middle


def _edited(name: str, text: str) -> str:
    for old, new in EDITS[name]:
        if text.count(old) != 1:
            raise ScaffoldChanged(f"{name}: expected {old!r} once in the scaffold, found it {text.count(old)} times.")
        text = text.replace(old, new)
    return text
