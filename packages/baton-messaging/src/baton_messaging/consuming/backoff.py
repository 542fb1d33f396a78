"""Backoff delays the next attempt of a failed message: by Celery's own options, with a floor."""

import random
from collections.abc import Callable


def backoff_seconds(
    *,
    attempt: int,
    factor: float,
    ceiling: float,
    jitter: bool,
    floor: float,
    uniform: Callable[[float, float], float] = random.uniform,
) -> float:
    """Return the delay in seconds after failed ``attempt`` (1-based).

    ``factor`` doubles with each attempt up to ``ceiling`` (Celery's retry_backoff and retry_backoff_max, fractions
    kept). With ``jitter`` the delay is drawn between ``floor`` and that value, so that it is never 0 (F71).

    >>> backoff_seconds(attempt=1, factor=2, ceiling=600, jitter=False, floor=1)
    2.0
    >>> backoff_seconds(attempt=5, factor=0.5, ceiling=600, jitter=False, floor=1)
    8.0
    >>> backoff_seconds(attempt=99, factor=2, ceiling=600, jitter=False, floor=1)
    600.0
    >>> backoff_seconds(attempt=3, factor=2, ceiling=600, jitter=True, floor=1, uniform=lambda low, high: low)
    1.0
    >>> backoff_seconds(attempt=3, factor=2, ceiling=600, jitter=True, floor=1, uniform=lambda low, high: high)
    8.0
    """
    doublings = min(attempt - 1, 63)  # 2**63 seconds outlive any ceiling and any float
    delay = max(floor, min(ceiling, factor * 2**doublings))
    return float(uniform(floor, delay) if jitter else delay)
