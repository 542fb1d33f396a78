"""The environment is completed for a run on the developer's own machine. To be called before config.env is imported.

In order of precedence: the process environment, the file `.env`, what this module makes up (debug on, a secret key that
is kept in the state directory). A deployment never comes through here.
"""

import os
import secrets
from pathlib import Path

from dotenv import dotenv_values

from baton_dev.project import PROJECT_DIR
from baton_dev.servers.server_user import open_directory

SECRET_BYTES = 50


def complete_environment() -> None:
    """Fill in what is unset."""
    for name, value in dotenv_values(PROJECT_DIR / ".env").items():
        if value:
            _set_default(name, value)
    _set_default("DJANGO_DEBUG", "true")
    _set_default("DJANGO_SETTINGS_MODULE", "config.settings")
    if not os.environ.get("DJANGO_SECRET_KEY"):
        state_dir = PROJECT_DIR / Path(os.environ.get("BATON_STATE_DIR") or "var").expanduser()
        os.environ["DJANGO_SECRET_KEY"] = _kept_secret(state_dir / "secret_key")


def _set_default(name: str, value: str) -> None:
    if not os.environ.get(name):  # an empty value counts as unset
        os.environ[name] = value


def _kept_secret(path: Path) -> str:
    if not path.exists():
        open_directory(path.parent)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(SECRET_BYTES))
    return path.read_text()
