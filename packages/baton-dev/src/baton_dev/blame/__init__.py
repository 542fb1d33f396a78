"""Blame injects faults into a running system, asks every view whose they are, and compares with the truth.

``make blame`` runs it on each suite and each broker. A suite is the package ``tests.blame`` of a folder:

- ``settings``: Django's, so that each fault takes seconds;
- ``stack``: ``STACK``, a subclass of `stack.Stack` that names the processes;
- ``faults``: fills the catalogue (`catalogue.fault`) when it is imported.

What it does not simulate: several machines. All processes of the system share one clock, one disk, one network.
"""

from typing import Final

SUITE: Final = "tests.blame"
