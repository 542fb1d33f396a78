"""Adoption by a project that exists: what it lacks of Baton, where in its files that belongs, and how it gets there.

For ``manage.py baton_install``. Whether something is there is asked of the running project, so that settings may be
computed in any way; where it goes is read from the syntax tree, whose positions keep every comment and every blank.
Nothing is written before the project has started with it in a rehearsal, in a process of its own.
"""
