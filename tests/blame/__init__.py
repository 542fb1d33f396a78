"""Faults of the shop: what `make blame` injects into exports, mail and orders."""
