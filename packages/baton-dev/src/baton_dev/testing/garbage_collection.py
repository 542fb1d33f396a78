"""Garbage collection is held off, as a pytest plugin.

The tests and what they import are a million objects that stay. Looking through them again and again took a seventh of
the processor time of the tests that run in this process.
"""

import gc

gc.disable()


def pytest_collection_finish() -> None:
    """Leave out what is there by now, and look rarely at the rest."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()
