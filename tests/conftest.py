"""The plugins of this suite: the whole, on the project as it is. The packages have suites of their own."""

pytest_plugins = ["baton_dev.testing.distribution", "baton_dev.testing.fixtures"]
