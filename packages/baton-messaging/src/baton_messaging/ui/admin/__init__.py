"""The machinery in the admin: to look at. What a person may do about a message is a named action of the desk."""

from baton_messaging.ui.admin import dead_letters
from baton_messaging.ui.admin import flow_control
from baton_messaging.ui.admin import processes
from baton_messaging.ui.admin import results
from baton_messaging.ui.admin import tables

__all__ = ["dead_letters", "flow", "processes", "results", "tables"]
