"""The addresses of notifications in the REST API."""

from django.urls import URLPattern, URLResolver

from scheduler_admin.notifications.api import channels, notifications
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("notification-channels", channels.ChannelViewSet, basename="channel")
ROWS.register(
    "notification-channels/<int:pk>/notifications", notifications.NotificationViewSet, basename="notification"
)
urlpatterns: list[URLPattern | URLResolver] = ROWS.urls
