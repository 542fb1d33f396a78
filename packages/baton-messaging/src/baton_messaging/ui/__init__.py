"""Pages and API for people: desk, board, triage, the admin's tables; and tables for a terminal.

The extra ``ui``; the platform team's, for all teams to use. Keeps promises 5 and 7 where people look: every
dead letter is on one list, and each page shows the verdict that command and API give. Only ``management`` and tests
import it; ``terminal`` needs no extra.
"""
