"""Figures per minute and consumer, told from rows that exist anyway: nothing is added to the way of a message."""
