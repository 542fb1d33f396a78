"""Triage: one verdict per consumer of each message, with evidence, owner and next step. The platform team's.

    lookup ──▶ gather ──▶ Facts ──judge, rules──▶ Verdicts ──wording──▶ page, API, command

Keeps promise 7. The judge is a pure function; gathering has a deadline and notes what it could not learn; only wording
knows languages.
"""
