"""The addresses of notifications in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.notifications.api import views as api

urlpatterns: list[URLPattern] = [
    path("notification-channels", api.ChannelsView.as_view(), name="channels"),
    path("notification-channels/<int:pk>", api.ChannelView.as_view(), name="channel"),
    path("notification-channels/<int:pk>/notifications", api.LatestView.as_view(), name="channel_latest"),
]
