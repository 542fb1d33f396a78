"""Bounds of what comes from a broker are checked before it is decompressed or decoded, and before the whole is kept.

A client that can write to a queue can write a body that unpacks to a thousand times its size, by the header
``compression`` or by a content encoding that is a Python codec (``zlib``, ``bz2``), and both are unpacked while the
message is made. So what our messages do not use is refused: the message goes to ``on_decode_error`` as it came, and so
to the dead letters. What is larger than ``MAX_RAW_BYTES`` is not even read whole: both transports keep a sample of it.

Transport options: ``accept_compression``, the types (``application/x-gzip``, …) that a project's own
``task_compression`` needs; ``max_raw_bytes``.
"""

from typing import Any, Final

from kombu.message import Message

#: Bytes of one message as a transport reads it whole: what worker and collector survive in 256 MB.
MAX_RAW_BYTES: Final = 8 * 1024 * 1024
#: Bytes that are kept of a larger one.
SAMPLE_BYTES: Final = 16 * 1024

_ENCODINGS: Final = frozenset({"", "utf-8", "utf8", "us-ascii", "ascii", "binary", "ascii-8bit", "latin-1"})


class OutOfBounds(ValueError):
    """The message is larger, or packed otherwise, than one of ours can be."""


def check_size(message: Message, *, max_bytes: int) -> None:
    """Refuse a body of more than ``max_bytes``. Raises OutOfBounds."""
    size = len(message.body or b"")
    if size > max_bytes:
        raise OutOfBounds(f"Expected a body of {max_bytes} bytes at most, got {size}.")


def cut_note(size: int) -> bytes:
    """Return what stands at the end of a sample."""
    return f" … cut: {size} bytes in all, too large to be read".encode()


class BoundedMessage(Message):
    """A message that is not unpacked unless it may be: the base of both transports' messages."""

    def __init__(self, body: Any = None, *, headers: Any = None, channel: Any = None, **options: Any) -> None:
        given = headers if isinstance(headers, dict) else {}
        refusal = _refusal(given, options.get("content_encoding"), _accepted(channel))
        if refusal is None:
            super().__init__(body, headers=given, channel=channel, **options)
            return
        unpacked = {name: value for name, value in given.items() if name != "compression"}
        super().__init__(body, headers=unpacked, channel=channel, **options)
        self.headers = given
        self.errors = [(OutOfBounds, refusal, None)]


def _refusal(headers: dict[str, Any], encoding: Any, accepted: Any) -> OutOfBounds | None:
    compression = headers.get("compression")
    if compression and compression not in accepted:
        return OutOfBounds(
            f"Expected a body without compression, got {str(compression)[:100]!r}. If the project compresses its own "
            "tasks, name the type in the transport option accept_compression."
        )
    if str(encoding or "").lower() not in _ENCODINGS:
        return OutOfBounds(f"Expected a body in UTF-8, got the encoding {str(encoding)[:100]!r}.")
    return None


def _accepted(channel: Any) -> Any:
    client = getattr(getattr(channel, "connection", None), "client", None)
    return client.transport_options.get("accept_compression", ()) if client else ()
