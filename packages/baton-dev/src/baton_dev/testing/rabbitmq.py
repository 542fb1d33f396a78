"""A RabbitMQ node of the tests has its own name, ports, data, cookie and port mapper: it disturbs no other node.

Debian's `rabbitmq-server` command switches to the user `rabbitmq` and to the system's node; the script behind it does
not, and runs as any user.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import amqp
import pytest

from baton_dev.servers.ports import LOOPBACK, free_port, is_taken
from baton_dev.servers.service import Service, ServiceError
from baton_dev.supervisor.tether import tethered

SCRIPTS = (
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    "/usr/local/sbin/rabbitmq-server",
    "/opt/rabbitmq/sbin/rabbitmq-server",
)
NODE_NAME = "baton@localhost"
CONNECT_TIMEOUT_SECONDS = 2
MAPPER_SECONDS = 20


class RabbitMQ(Service):
    """A RabbitMQ node without plugins. It takes some ten seconds to start: `launch` early, `start` when needed."""

    name = "rabbitmq"
    port_variable = "RABBITMQ_PORT"
    stop_signal = signal.SIGTERM
    start_timeout_seconds = 180  # eight seconds of processor time, which other tests want, too

    @property
    def url(self) -> str:
        """Return the URL of the virtual host "/"."""
        return f"amqp://guest:guest@{LOOPBACK}:{self.port}//"

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "baton_dev.testing.rabbitmq", str(self.state_dir)]

    def launch(self) -> None:
        """Start the node without waiting for it."""
        if self._process is None or self._process.poll() is not None:
            self.prepare()
            self._process = self._spawn()

    def start(self) -> str:
        """Start the node unless it was launched, wait until it answers, return its URL."""
        self.launch()
        assert self._process is not None
        self._wait_until_ready(self._process)
        return self.url

    def initialise(self) -> None:
        """Write the configuration. Any of it may be written anew at each start."""
        self._data.mkdir(exist_ok=True, mode=0o700)
        (self._data / "enabled_plugins").write_text("[].\n")
        (self._data / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = {LOOPBACK}:{self.port}\n"
            "log.file.level = warning\n"
            "disk_free_limit.absolute = 50MB\n"  # a full disk of the machine is not what is tested
        )

    def become_server(self) -> None:
        """Execute the node. Its port mapper is a child that dies with it; the node's own would stay behind."""
        environment = self._environment()
        self._ports.write_text(json.dumps(environment))
        epmd, port = shutil.which("epmd") or "epmd", environment["ERL_EPMD_PORT"]
        subprocess.Popen(tethered([epmd, "-port", port, "-address", LOOPBACK], signal.SIGKILL))
        deadline = time.monotonic() + MAPPER_SECONDS
        while not is_taken(int(port)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.tie_to_parent()
        os.chdir(self._data)
        os.execve(server_script() or "rabbitmq-server", ["rabbitmq-server"], environment)

    def is_ready(self) -> bool:
        """Tell whether a client can log in."""
        try:
            with amqp.Connection(f"{LOOPBACK}:{self.port}", connect_timeout=CONNECT_TIMEOUT_SECONDS):
                return True
        except (OSError, amqp.AMQPError):
            return False

    @contextmanager
    def full(self) -> Iterator[None]:
        """Let the node believe for a while that its memory is full."""
        self.call("vm_memory_monitor set_vm_memory_high_watermark [0.000001]")
        try:
            yield
        finally:
            self.call("vm_memory_monitor set_vm_memory_high_watermark [0.6]")

    def enable_management(self) -> int:
        """Start the management plug-in, which stays until the node ends; return its port."""
        port = free_port(seed=f"{self._data}/management")
        enabled = self._data / "enabled_plugins"
        enabled.write_text("[rabbitmq_management].\n")
        listener = f'[{{port, {port}}}, {{ip, "{LOOPBACK}"}}]'
        self.evaluate(
            f"application:load(rabbitmq_management), application:set_env(rabbitmq_management, tcp_config, {listener}), "
            f'{{ok, _, _}} = rabbit_plugins:ensure("{enabled}")'
        )
        return port

    def states_of_connections(self) -> str:
        """Return what the node says of each: running, blocking, blocked."""
        return self.call("rabbit_networking connection_info_all [[state]]")

    def call(self, function: str) -> str:
        """Call a function of the node, as `rabbitmqctl` does in a second and a half; return what it returns."""
        return self._erl_call("-a", function)

    def evaluate(self, expression: str) -> str:
        """Evaluate an Erlang expression on the node, for arguments that `call` cannot write: binaries."""
        answer = self._erl_call("-e", stdin=f"{expression}.\n")
        assert answer.startswith("{ok,"), answer
        return answer

    def _erl_call(self, *arguments: str, stdin: str = "") -> str:
        cookie = (self._data / ".erlang.cookie").read_text()
        command = ["erl_call", "-sname", NODE_NAME, "-c", cookie, *arguments]
        environment = json.loads(self._ports.read_text())
        done = subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, check=True)
        assert "badrpc" not in done.stdout, done.stdout
        return done.stdout

    def destroy(self) -> None:
        """Delete the data. The node must be stopped."""
        with self._locked():
            shutil.rmtree(self._data, ignore_errors=True)

    @property
    def _data(self) -> Path:
        return self.state_dir / "rabbitmq"

    @property
    def _ports(self) -> Path:
        """Return the file in which a node that was started leaves its environment: its ports are free no more."""
        return self._data / "environment.json"

    def _environment(self) -> dict[str, str]:
        data = self._data
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(data),  # where Erlang keeps the cookie
            "RABBITMQ_NODENAME": NODE_NAME,
            "RABBITMQ_DIST_PORT": str(free_port(seed=f"{data}/distribution")),
            "ERL_EPMD_PORT": str(free_port(seed=f"{data}/epmd")),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "RABBITMQ_MNESIA_BASE": str(data / "mnesia"),
            "RABBITMQ_LOG_BASE": str(data / "log"),
            "RABBITMQ_CONFIG_FILE": str(data / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(data / "advanced.config"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(data / "generated"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(data / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(data / "no-such-file"),
            "RABBITMQ_PID_FILE": str(data / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2",
            "RUNNING_UNDER_SYSTEMD": "true",  # the script then becomes the node instead of waiting for it
        }


def server_script() -> str | None:
    """Return the script that starts a node as the calling user, or None where RabbitMQ is not installed."""
    return next((script for script in SCRIPTS if Path(script).exists()), None) or shutil.which("rabbitmq-server")


def is_installed() -> bool:
    """Tell whether a node can be started here."""
    return server_script() is not None and shutil.which("epmd") is not None


def skip_without_rabbitmq() -> None:
    """Skip the calling test where RabbitMQ is not installed; with CI set, fail it."""
    if is_installed():
        return
    reason = "rabbitmq-server is not installed (Debian: apt-get install rabbitmq-server)"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def main(state_dir: str) -> NoReturn:
    """Become the node."""
    try:
        RabbitMQ(Path(state_dir)).run()
    except ServiceError as error:
        sys.exit(str(error))
    raise AssertionError("run() does not return")


if __name__ == "__main__":
    main(sys.argv[1])
