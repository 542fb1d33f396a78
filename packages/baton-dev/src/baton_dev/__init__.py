"""`make run`: all of Baton on one machine, from nothing: servers from wheels, a supervisor, a drain at Ctrl-C.

A deployment uses none of this: it names its servers in the environment and starts the lines of the Procfile itself.

Top-level modules are the run: ``run`` (the commands), ``stack`` (everything that runs), ``banner``, ``console``,
``drain``, ``environment``, ``readiness``, and ``project``, which is all that this package knows of the project. Beside
them: ``demo``, the engine of `make demo`; ``blame``, that of `make blame`; ``translations``; ``servers`` and
``supervisor``; ``testing``, for tests on real servers and processes.
"""
