"""The processes of a measurement: started at once, all but the web held still until it is their turn."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import plain_celery, processes
from benchmarks.processes import Child, wait_until


@dataclass(frozen=True)
class Stage:
    """The processes. ``plain`` and ``reuse`` are the plain project's workers, ``baton`` is ours."""

    web: Child
    relay: Child
    plain: Child
    reuse: Child
    baton: Child


@contextmanager
def stage(log_dir: Path) -> Iterator[Stage]:
    """Start all, wait until they are ready, stop them at the end."""
    with ExitStack() as children:

        def started(child: Child) -> Child:
            children.callback(child.stop)
            return child

        everybody = Stage(
            web=started(processes.web(log_dir)),
            relay=started(processes.relay(log_dir)),
            plain=started(processes.worker("benchmarks.plain_celery", "plain", log_dir=log_dir)),
            reuse=started(
                processes.worker(
                    "benchmarks.plain_celery", plain_celery.REUSED, log_dir=log_dir, env={"PLAIN_DB_REUSE": "1"}
                )
            ),
            baton=started(processes.worker("config", "benchmarks", log_dir=log_dir)),
        )
        wait_until(lambda: everybody.relay.says("relay_started"), what="the relay")
        everybody.relay.pause()
        for worker in (everybody.plain, everybody.reuse, everybody.baton):
            wait_until(lambda worker=worker: worker.says(" ready."), what="a worker")  # type: ignore[misc]
            worker.pause()
        wait_until(processes.web_answers, what="an answer from gunicorn")
        yield everybody
