"""The plugins of this suite: the package, on a project of its own."""

pytest_plugins = ["baton_dev.testing.distribution", "baton_dev.testing.fixtures"]
