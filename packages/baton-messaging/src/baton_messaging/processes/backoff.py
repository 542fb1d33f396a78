"""Backoff spaces the tries of what must try again: messages, probes of a circuit, processes whose server is away."""

import random
from collections.abc import Callable


def backoff_seconds(
    attempt: int,
    *,
    base: float,
    maximum: float,
    floor: float = 0.0,
    jitter: bool,
    uniform: Callable[[float, float], float] = random.uniform,
) -> float:
    """Return the delay in seconds after failed ``attempt`` (1-based).

    ``base`` doubles with each attempt up to ``maximum``. With ``jitter`` the delay is drawn between ``floor`` and that
    value (full jitter, which spreads those that failed together), so that it is never 0 (F71).

    >>> backoff_seconds(1, base=2, maximum=600, jitter=False)
    2.0
    >>> backoff_seconds(5, base=0.5, maximum=600, jitter=False)
    8.0
    >>> backoff_seconds(99, base=2, maximum=600, jitter=False)
    600.0
    >>> backoff_seconds(1, base=0.1, maximum=600, floor=1, jitter=False)
    1.0
    >>> backoff_seconds(3, base=2, maximum=600, floor=1, jitter=True, uniform=lambda low, high: low)
    1.0
    >>> backoff_seconds(3, base=2, maximum=600, floor=1, jitter=True, uniform=lambda low, high: high)
    8.0
    """
    doublings = min(attempt - 1, 63)  # 2**63 seconds outlive any maximum and any float
    delay = max(floor, min(maximum, base * 2**doublings))
    return float(uniform(floor, delay) if jitter else delay)
