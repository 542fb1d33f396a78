"""The board: the way of the messages as one picture, live, for people. /metrics is the same for machines.

Each station names its owner (promise 7).
"""
