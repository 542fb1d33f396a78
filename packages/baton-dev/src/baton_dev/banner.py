"""The banner of `make run` says, when everything is up, where to look and what to try."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from baton_dev.project import Environment
from baton_dev.supervisor.procfile import FLOWER, Program
from baton_dev.supervisor.supervisor import Running

EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not listened on


def web_address(env: Environment) -> str:
    """Return the address of the site, for this machine."""
    return _address(env.WEB_HOST, env.WEB_PORT)


def banner(
    env: Environment, programs: Sequence[Program], processes: Iterable[Running], *, admin: str, late: Sequence[str]
) -> str:
    """Return the lines, for people who see Baton for the first time.

    `admin` tells of the user and the password; `late` are the programs that have not begun to work.
    """
    site = web_address(env)
    has_flower = any(program.name == FLOWER for program in programs)
    rows = [
        ("Site", f"{site}/"),
        ("Admin", f"{site}/admin/  {admin}".rstrip()),
        ("Board", f"{site}/ops/"),
        *([("API", f"{site}/api/docs")] if find_spec("config.api") else []),
        *([("Flower", f"{_address(env.FLOWER_HOST, env.FLOWER_PORT)}/")] if has_flower else []),
        ("Mail", f"{env.BATON_STATE_DIR / 'mail'}  (a file each)" if not env.EMAIL_URL else "sent as EMAIL_URL says"),
        ("Logs", f"{env.BATON_STATE_DIR / 'log'}"),
        ("Commands", 'make manage ARGS="help"'),
    ]
    state = f"Baton is running, but not yet {', '.join(late)}: see Logs." if late else "Baton is running."
    lines = ["", state, "", *(f"  {name:<10}{text}" for name, text in rows), "", *_dare(programs, processes)]
    return "\n".join([*lines, "Stop with Ctrl-C: running tasks finish first, the data is kept.", ""])


def _dare(programs: Iterable[Program], processes: Iterable[Running]) -> Iterable[str]:
    """Name the first worker of the Procfile."""
    first_worker = next((program.name for program in programs if "worker" in program.command), None)
    for process in processes:
        if process.name == first_worker:
            yield f"Kill a worker now, while it works: `kill -9 {process.pid}` ({process.name}). Nothing gets lost."


def _address(host: str, port: int) -> str:
    return f"http://{'127.0.0.1' if host in EVERYWHERE else host}:{port}"
