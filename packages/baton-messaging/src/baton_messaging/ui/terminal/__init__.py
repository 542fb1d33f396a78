"""The terminal: arguments and tables of the commands. Needs no extra."""
