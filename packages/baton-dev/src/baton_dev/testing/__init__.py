"""Tests on real processes: servers, workers, relays and a browser, as pytest plugins and helpers.

A suite names the plugins in its ini options and its Celery application in its settings (``TEST_APPLICATION``)::

    addopts = "--ds=tests.settings -p baton_dev.testing.garbage_collection -p baton_dev.testing.services"

and its ``conftest.py`` says ``pytest_plugins = ["baton_dev.testing.distribution", "baton_dev.testing.fixtures"]``.
"""
