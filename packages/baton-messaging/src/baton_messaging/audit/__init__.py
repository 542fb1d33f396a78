"""Rights say what a person may do; an operation and its audit entry are one transaction.

The room is the platform's, for the person who operates. It keeps the promise that every message has an owner also when
a person decides: who replayed, edited, discarded or paused is on record, and so is what was refused.
"""
