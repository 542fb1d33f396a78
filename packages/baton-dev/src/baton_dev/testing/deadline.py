"""The deadline of an act: tested on a machine that may stand still for seconds at any moment."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
MAX_TRIES = 5


def within(act: Callable[[], Result], *, seconds: float) -> Result:
    """Act, and return what comes of it; fail if it took longer each of five times.

    A fault takes too long every time. A machine that stands still does so once, and then it is tried again.
    """
    taken: list[float] = []
    for _ in range(MAX_TRIES):
        began = time.monotonic()
        result = act()
        taken.append(time.monotonic() - began)
        if taken[-1] < seconds:
            return result
    raise AssertionError(f"Expected it within {seconds} s once, and it took {[round(one, 2) for one in taken]}.")
