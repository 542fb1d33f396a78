"""Measure Baton beside plain Django and plain Celery. `make bench` runs it; docs/performance.md says how to read it."""
