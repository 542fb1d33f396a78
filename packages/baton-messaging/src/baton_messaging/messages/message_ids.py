"""Message ids are read out of raw bodies: for display, for searches and for guesses only, for no signature is checked.

Nothing here raises for what a body contains, and nothing is decoded: an id is found by its place in the text, whatever
wraps it (a sealed envelope; a body, in which that envelope is a JSON string; a body as Redis keeps it).
"""

import re
from collections.abc import Iterator
from typing import Any, Final

MAX_IDS: Final = 1_000  # of one Celery message; a bundle of ours has a tenth of that
_ID: Final = r'"message_id\\*": ?\\*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\*"'
_IN_TEXT: Final = re.compile(_ID)
_IN_BODY: Final = re.compile(_ID.encode())


def message_id_in(sealed: Any) -> str | None:
    r"""Return the id that one sealed envelope claims to have.

    >>> message_id_in('{"to": "a.b", "message_id": "0190d3c2-7a00-7000-8000-000000000001"}:signature')
    '0190d3c2-7a00-7000-8000-000000000001'
    >>> message_id_in('{"message_id": "rubbish"}')
    """
    match = _IN_TEXT.search(sealed) if isinstance(sealed, str) else None
    return match.group(1) if match else None


def message_ids_in(arguments: Any) -> list[str]:
    """Return the ids in a task's arguments; of what is no bundle of ours there are none.

    >>> message_ids_in([['{"message_id": "0190d3c2-7a00-7000-8000-000000000001"}:signature', "rubbish"]])
    ['0190d3c2-7a00-7000-8000-000000000001']
    >>> message_ids_in({"not": "a bundle"})
    []
    """
    bundle = arguments[0] if isinstance(arguments, list | tuple) and len(arguments) == 1 else None
    if not isinstance(bundle, list):
        return []
    found: Iterator[str | None] = map(message_id_in, bundle[:MAX_IDS])
    return [message_id for message_id in found if message_id]


def ids_in_body(body: bytes) -> list[bytes]:
    r"""Return the ids in the body of a Celery message, in which the envelopes are JSON strings.

    >>> ids_in_body(rb'[[["{\"message_id\": \"0190d3c2-7a00-7000-8000-000000000001\"}:signature"]], {}, {}]')
    [b'0190d3c2-7a00-7000-8000-000000000001']
    """
    return _IN_BODY.findall(body)
