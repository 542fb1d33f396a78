"""An app whose work is done by tasks of django.tasks."""
