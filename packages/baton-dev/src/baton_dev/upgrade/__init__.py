"""`make upgrade` of a made project: a newer Baton taken, looked at, and taken back if it will not do.

``__main__`` is the command; ``vendored`` has the wheels and locks that a project holds; ``pages`` what changed between
two versions; ``examination`` asks the project, with its database, what the new version would do to it.
"""
