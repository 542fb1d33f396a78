"""The web's guards: what is turned away before a view sees it, in which shape, and what of a request is logged."""
