"""`make new`: a project of one's own, made from the scaffold in whose folder the command is typed.

``__main__`` is the command. ``names`` refuses names that cannot be, ``files`` puts the files together: those of
``template/``, and as they stand those of the scaffold that a made project has, too. ``lock`` has the lock files,
``release`` the wheels.
"""
