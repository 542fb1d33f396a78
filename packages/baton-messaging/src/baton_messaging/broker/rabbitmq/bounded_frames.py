"""Frames that would end the process are bounded: bodies of up to 128 MB, headers that py-amqp cannot decode.

A body that is too large is read and dropped; py-amqp would keep all of it.

The broker still has the message, whole: what is rejected goes to the dead letters by itself. Here only what reaches the
process is bounded: the beginning of the body, and a note of its size, which is no JSON and is refused as such.

Headers that are nested by thousands of levels, or hold a time after the year 9999, make py-amqp raise what no caller
expects of a connection: the process would end, and get the same message again. Such a message comes without headers.

*Source*: AMQP 0-9-1, "Content Framing": the header frame tells the size, then the properties; body frames follow.
"""

from collections.abc import Callable
from struct import pack, unpack_from
from typing import Any, Final

from amqp.method_framing import frame_handler
from amqp.serialization import PROPERTY_CLASSES

from baton_messaging.broker.bounds import SAMPLE_BYTES, cut_note

_HEADER: Final = 2
_BODY: Final = 3
_SIZE_AT: Final = 4  # in a header frame: after the class and the weight
_PROPERTIES_AT: Final = 12
_NO_PROPERTIES: Final = b"\x00\x00"

Frame = tuple[int, int, bytes]


def bounded_frame_handler(connection: Any, callback: Callable[..., Any]) -> Callable[[Frame], bool]:
    """Return py-amqp's reader of frames, behind one that lets no large body through."""
    read = frame_handler(connection, callback)
    large: dict[int, _LargeBody] = {}  # by channel

    def on_frame(frame: Frame) -> bool:
        kind, channel, payload = frame
        if kind == _HEADER:
            (size,) = unpack_from(">Q", payload, _SIZE_AT)
            if size > connection.max_raw_bytes:
                body = large[channel] = _LargeBody(size)
                kept_size = pack(">Q", len(body.kept()))
                payload = b"".join((payload[:_SIZE_AT], kept_size, payload[_SIZE_AT + len(kept_size) :]))
        elif kind == _BODY and channel in large:
            body = large[channel]
            body.add(payload)
            if not body.is_complete:
                return False
            payload = large.pop(channel).kept()
        try:
            return bool(read((kind, channel, payload)))
        except Exception:
            if kind != _HEADER or _has_readable_properties(payload):
                raise
        return bool(read((kind, channel, payload[:_PROPERTIES_AT] + _NO_PROPERTIES)))

    return on_frame


def _has_readable_properties(payload: bytes) -> bool:
    (class_id,) = unpack_from(">H", payload)
    try:
        PROPERTY_CLASSES[class_id](payload, _PROPERTIES_AT)
    except Exception:  # whatever a foreign table makes of the decoder
        return False
    return True


class _LargeBody:
    """A body of which only the beginning is kept."""

    def __init__(self, size: int) -> None:
        self._size = self._missing = size
        self._sample = bytearray()

    @property
    def is_complete(self) -> bool:
        """Tell whether all of it has come."""
        return self._missing <= 0

    def add(self, payload: Any) -> None:
        """Take a frame of it."""
        self._missing -= len(payload)
        self._sample += payload[: SAMPLE_BYTES - len(self._sample)]

    def kept(self) -> bytes:
        """Return as many bytes, whatever has come: the beginning, and a note of the size."""
        return bytes(self._sample.ljust(SAMPLE_BYTES)) + cut_note(self._size)
