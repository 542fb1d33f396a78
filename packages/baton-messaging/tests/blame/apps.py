from django.apps import AppConfig


class BlameConfig(AppConfig):
    name = "tests.blame"
    label = "blame"
