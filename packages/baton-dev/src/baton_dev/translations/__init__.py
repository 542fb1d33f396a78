"""Translations of every text that users read: ``python -m baton_dev.translations`` tells what is missing, and adds it.

Needs polib, from the development dependencies.
"""
