"""Is every text that users read translated? ``python -m baton_dev.translations`` tells, and brings what is missing.

Needs polib, from the development dependencies.
"""
