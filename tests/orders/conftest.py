"""Fixtures of the orders tests."""

import pytest

from tests.orders import factories


@pytest.fixture
def catalogue(db: None) -> None:
    factories.products()


@pytest.fixture
def committed_catalogue(transactional_db: None) -> None:
    """Put the products where other connections see them."""
    factories.products()
