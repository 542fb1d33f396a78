"""Lengths of time have one form."""

import doctest

from baton_messaging.health import wording


def test_the_examples_are_true() -> None:
    assert doctest.testmod(wording).failed == 0
