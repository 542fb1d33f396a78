"""The wiring of a project that has nothing to wire: what `baton_dev` asks of the one in whose folder it is started."""
