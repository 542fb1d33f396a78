"""Addresses."""

from django.urls import include, path

urlpatterns = [path("", include("baton_messaging.urls"))]
