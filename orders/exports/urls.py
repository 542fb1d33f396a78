"""The pages of exports."""

from django.urls import path

from orders.exports import views

app_name = "exports"

urlpatterns = [
    path("", views.exports, name="exports"),
    path("list/", views.export_list, name="list"),
    path("<uuid:export_id>/", views.export_page, name="export"),
    path("<uuid:export_id>/progress/", views.export_progress, name="progress"),
    path("<uuid:export_id>/cancel/", views.cancel, name="cancel"),
    path("<uuid:export_id>/repeat/", views.repeat, name="repeat"),
]
