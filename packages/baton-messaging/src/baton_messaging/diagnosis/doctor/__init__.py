"""What is wrong with the installation around the code? ``manage.py doctor`` asks, and each answer names the remedy.

An examination is a function that returns lines. Those of an app are in its ``doctor.py``, found as ``tasks.py`` is;
those of the machinery are imported here. All are asked at the same time, each with a deadline of its own, so that a
server that never answers costs two seconds and hides no other finding.
"""

from importlib import import_module

OWN = ("database", "outbox", "reconciler", "retention", "broker", "queues", "processes", "dead_letters", "settings")

for _name in OWN:  # in the order of the report
    import_module(f"baton_messaging.diagnosis.doctor.{_name}")
