"""The app's configuration: its consumers are there for `make blame` only."""

from django.apps import AppConfig


class BlameConfig(AppConfig):
    name = "tests.blame"
    label = "blame"
