"""What a person can do with dead letters: replay, edit, redirect, discard, restore.

The room is a person's. It keeps the promises that of two who act on one dead letter exactly one succeeds, and that no
operation makes a second effect: the inbox decides. Each is one audited operation in one transaction (audit/).
"""
