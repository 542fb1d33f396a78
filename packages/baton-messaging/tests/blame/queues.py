"""Queues that are not as they should be."""

from typing import Final

LANE: Final = "blame.lane"  # no worker consumes it
ODD: Final = "blame.odd"  # the broker has it with other arguments
