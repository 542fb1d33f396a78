"""Faults on the samples: what `make blame` injects into a system that has the package and no shop."""
