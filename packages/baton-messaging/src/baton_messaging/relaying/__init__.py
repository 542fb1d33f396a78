"""From the outbox to the broker: claim due rows, send one bundle per consumer, mark what the broker confirmed."""
