"""The admin of the tests' project, in the look of Unfold."""

from django.contrib.admin.apps import AdminConfig


class UnfoldAdminConfig(AdminConfig):
    default_site = "unfold.sites.UnfoldAdminSite"
