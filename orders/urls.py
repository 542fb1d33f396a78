"""The pages of orders."""

from django.urls import path

from orders import views

app_name = "orders"

urlpatterns = [
    path("", views.home, name="home"),
    path("orders/", views.place, name="place"),
    path("orders/<uuid:order_id>/", views.order_page, name="order"),
    path("orders/<uuid:order_id>/progress/", views.order_progress, name="progress"),
    path("orders/<uuid:order_id>/cancel/", views.cancel, name="cancel"),
]
