"""A client of a broker as small as can be: puts, takes, and looks."""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import kombu
from baton_dev.testing.processes import wait_until
from baton_messaging.broker.options import redis_options

EXCHANGE = kombu.Exchange("tasks", type="direct")
QUEUE = kombu.Queue("work", EXCHANGE, routing_key="work")
DEAD = kombu.Queue("dead_letters", kombu.Exchange("dead_letters", type="direct"), routing_key="dead_letters")


class Peer:
    """One connection to the broker."""

    OPTIONS: ClassVar[dict[str, Any]] = redis_options(
        exchange=EXCHANGE.name,
        queues=["work", "other", "dead_letters"],
        dead_letter_queue=DEAD.name,
        delivery_limit=2,
        visibility_timeout=1.0,
    )

    def __init__(self, connection: kombu.Connection) -> None:
        self.connection = connection
        self.channel: Any = connection.default_channel
        self.delivered: list[Any] = []  # messages; the stubs of kombu know too little of them
        self._consumer: kombu.Consumer | None = None
        QUEUE.bind(self.channel).declare()
        DEAD.bind(self.channel).declare()

    def put(self, *bodies: Any, **options: Any) -> None:
        """Put messages into the queue."""
        producer = kombu.Producer(self.connection, auto_declare=False)
        for body in bodies:
            producer.publish(body, **{"exchange": "", "routing_key": "work", **options})

    def consume(self, *, prefetch: int = 1, no_ack: bool = False) -> None:
        """Begin to consume the queue."""
        self._consumer = kombu.Consumer(
            self.connection, queues=[QUEUE], on_message=self.delivered.append, prefetch_count=prefetch, no_ack=no_ack
        )
        self._consumer.consume()

    def stop_consuming(self) -> None:
        """Take no more."""
        assert self._consumer
        self._consumer.cancel()

    def ask(self) -> None:
        """Ask for a message, and do not read the answer."""
        self.consume()
        self.channel.connection.cycle._register_BRPOP(self.channel)
        time.sleep(0.1)

    def wait(self, seconds: float) -> None:
        """Handle what arrives, for so long."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._drain(0.05)

    def next(self) -> Any:
        """Return the next message; fail if none comes."""
        if self._consumer is None:
            self.consume()
        self.wait_for(lambda: self.delivered, what="a message")
        return self.delivered.pop(0)

    def wait_for(self, condition: Callable[[], object], *, what: str) -> None:
        """Handle what arrives until a condition holds."""

        def holds_by_now() -> object:
            if not (found := condition()):
                self._drain(0.05)
            return found

        wait_until(holds_by_now, what=what)

    def dead(self) -> list[Any]:
        """Take all dead letters."""
        found = []
        while message := DEAD.bind(self.channel).get():
            message.ack()
            found.append(message)
        return found

    def disappear(self) -> None:
        """End as a process does that is killed: say nothing, give nothing back."""
        self.channel.qos._delivered.clear()
        self.channel._in_poll = None
        self.connection.close()

    def _drain(self, seconds: float) -> None:
        try:
            self.connection.drain_events(timeout=seconds)
        except TimeoutError:
            return
