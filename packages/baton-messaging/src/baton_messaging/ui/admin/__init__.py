"""The machinery in the admin, read-only. What a person may do about a message is a named action of the desk."""

from baton_messaging.ui.admin import dead_letters, flow_control, tables

__all__ = ["dead_letters", "flow_control", "tables"]
