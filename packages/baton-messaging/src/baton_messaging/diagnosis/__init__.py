"""Diagnosis tells how far a message got and whose it is (triage), and what is wrong around the code (doctor).

Read-only, and the platform team's. Keeps promise 7: the states of a message are read in one place (message_states), the
verdict is made in one (triage.judge), and page, command, API, desk, board, doctor and mail show that.
It imports nothing of ``ui``: all of it works from the command line.
"""
