"""Whose is it? One verdict per consumer of each message, with evidence, owner and next step.

    gathering ──▶ Facts ──judging──▶ Verdicts ──wording──▶ page, API, command

Judging is a pure function; gathering has a deadline and says what it could not learn; only wording knows languages.
"""
