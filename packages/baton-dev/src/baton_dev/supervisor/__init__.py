"""A supervisord of our own keeps the programs of the Procfile running, and ends them with us."""
