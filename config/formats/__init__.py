"""Dates and times read the same in every language, with their zone: the style of the tag ``moment``."""
