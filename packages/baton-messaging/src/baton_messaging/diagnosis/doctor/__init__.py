"""The doctor examines the installation around the code: ``manage.py doctor``; each finding names owner and remedy.

It is the platform team's first command, and keeps promise 7: it names the same owner as triage, page and mail do.
An examination is a function that returns diagnoses. Those of an app are in its ``doctor.py``, found as ``tasks.py``
is; the package's own are imported here. All run at the same time, each with a deadline of its own, so that a server
that never answers costs two seconds and hides no other finding.
"""

from importlib import import_module

OWN = ("processes", "queues", "messages", "held", "database", "settings")

for _name in OWN:  # in the order of the report
    import_module(f"baton_messaging.diagnosis.doctor.{_name}")
