"""Who looks at the desk."""

import pytest
from django.test import Client

from tests.dead_letters.factories import an_operator


@pytest.fixture
def operator(db: None) -> Client:
    """Return the browser of somebody who may do everything with dead letters, and nothing else."""
    client = Client()
    client.force_login(an_operator("view", "replay", "edit", "discard"))
    return client


@pytest.fixture
def viewer(db: None) -> Client:
    """Return the browser of somebody who may only look."""
    client = Client()
    client.force_login(an_operator("view", name="vera"))
    return client
