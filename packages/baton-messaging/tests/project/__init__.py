"""A small project that has the package, and nothing of the scaffold: its tests run in it."""
