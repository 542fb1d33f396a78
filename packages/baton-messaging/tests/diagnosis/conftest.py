"""What the installation looks like is asked while no process of another test is part of it."""

import pytest
from baton_dev.testing.shared_processes import end_all_but


@pytest.fixture(autouse=True)
def nobody_else() -> None:
    """End the processes that tests share: the heartbeats of a relay that goes on were deleted after the last test."""
    end_all_but(())
