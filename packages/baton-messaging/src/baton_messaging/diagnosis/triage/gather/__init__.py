"""Gathering of facts: a snapshot of broker and tables, taken within a deadline, put together as deliveries."""
