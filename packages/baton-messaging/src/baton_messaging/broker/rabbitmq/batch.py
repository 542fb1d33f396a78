"""A batch of messages is confirmed by RabbitMQ together: ``Producer.batch()``, which kombu has for Redis only.

Invariant: what a batch that did not fail has flushed is with the broker; of one that failed it is unknown what is.
"""

from typing import Any, Final, Protocol

from kombu.exceptions import BatchPublishError  # type: ignore[attr-defined]  # the stubs are older

#: Seconds. What is not confirmed by then is taken for lost with its connection.
CONFIRM_TIMEOUT: Final = 30.0


class ConfirmingChannel(Protocol):
    """What a batch asks of its channel: to publish without waiting, and to wait for all confirms at once."""

    @property
    def unconfirmed_count(self) -> int:
        """Return how many messages are not confirmed yet."""

    def publish_unconfirmed(self, message: Any, **kwargs: Any) -> Any:
        """Publish without waiting."""

    def await_confirms(self, timeout_seconds: float) -> None:
        """Wait until all messages are confirmed; raise the first thing that went wrong with any of them."""


class ConfirmedBatch:
    """Messages on their way."""

    def __init__(self, channel: ConfirmingChannel, max_size: int) -> None:
        self.channel = channel
        self._max_size = max_size
        self._failed = False

    def publish(self, message: Any, **kwargs: Any) -> Any:
        """Send one message, and wait for those before it when there are many."""
        self._check_usable()
        kwargs.pop("confirm_timeout", None)
        try:
            result = self.channel.publish_unconfirmed(message, **kwargs)
        except Exception:
            self._failed = True
            raise
        if self.channel.unconfirmed_count >= self._max_size:
            self.flush()
        return result

    def flush(self) -> None:
        """Wait for the confirms. Raises BatchPublishError when it is not known what arrived."""
        self._check_usable()
        try:
            self.channel.await_confirms(CONFIRM_TIMEOUT)
        except Exception as error:
            self._failed = True
            raise BatchPublishError(f"messages of the batch may be missing: {error}") from error

    def discard(self) -> None:
        """Give the batch up. What was sent cannot be called back: the next message waits for its confirms, too."""
        self._failed = True

    def close(self) -> None:
        """Do nothing: a batch owns nothing but its place in the channel."""

    def _check_usable(self) -> None:
        if self._failed:
            raise BatchPublishError("a batch that failed cannot be used again")
