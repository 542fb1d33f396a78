"""Servers: what a health check found becomes diagnoses, with owner, remedy and the command that mends it.

The evidence is the server's own words, with numbers and names; the command has the names filled in. Keeps promise 7:
doctor, triage, board and alerts say the same of a server, because they ask here.
"""
