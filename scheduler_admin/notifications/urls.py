"""The addresses of the pages of notifications."""

from django.urls import URLPattern, path

from scheduler_admin.notifications.pages import views as notifications

urlpatterns: list[URLPattern] = [
    path("notifications/", notifications.notifications, name="notifications"),
    path("notifications/<int:pk>/", notifications.channel, name="notification_channel"),
]
