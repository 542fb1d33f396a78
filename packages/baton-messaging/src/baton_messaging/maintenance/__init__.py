"""Maintenance keeps tables and queues fit: pruning, the gate before a deploy, the migration of a queue.

The room is the platform's. It keeps the promise that no message is lost by housekeeping: nothing is deleted that is on
its way or that a person may still ask about, and a queue gets new arguments with everything that is in it.
"""
