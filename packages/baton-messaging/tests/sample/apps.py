"""The app's configuration."""

from django.apps import AppConfig


class SampleConfig(AppConfig):
    name = "tests.sample"
    label = "sample"
