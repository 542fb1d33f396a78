"""Servers that the environment names are taken to answer."""


def check_database(_url: str) -> None:
    """Believe it."""


def check_broker(_url: str) -> None:
    """Believe it."""
