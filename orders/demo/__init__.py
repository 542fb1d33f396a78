"""`make demo`: real processes, real HTTP, a worker killed midway, and a table that shows that nothing got lost."""
