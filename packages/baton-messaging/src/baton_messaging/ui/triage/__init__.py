"""Triage as pages: one id, live, and the survey of what is stuck. The verdicts are those of the command (promise 7)."""
