import doctest

from baton_messaging.processes import backoff
from baton_messaging.processes.backoff import backoff_seconds


def test_the_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(backoff).failed == 0


def test_jitter_never_gives_zero() -> None:
    delays = [
        backoff_seconds(attempt, base=1, maximum=60, floor=1.0, jitter=True)
        for attempt in range(1, 8)
        for _ in range(200)
    ]
    assert min(delays) >= 1.0
    assert max(delays) <= 60
