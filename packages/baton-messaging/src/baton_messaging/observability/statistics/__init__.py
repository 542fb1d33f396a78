"""Figures per minute and consumer, rolled up from rows that exist anyway: nothing is added to the way of a message."""
