"""`make run`: all of Baton on one machine, from nothing: servers from wheels, a supervisor, a drain at Ctrl-C.

A deployment uses none of this: it names its servers in the environment and starts the lines of the Procfile itself.
"""
