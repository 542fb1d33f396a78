import doctest

from baton_messaging.observability.statistics import histogram


def test_the_examples_are_true() -> None:
    assert doctest.testmod(histogram).failed == 0
