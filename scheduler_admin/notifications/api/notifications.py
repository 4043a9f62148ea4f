"""What a channel was to tell: read, sent again, and tried by a test."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.notifications import selectors
from scheduler_admin.notifications.api.channels import check_notifies
from scheduler_admin.notifications.api.serializers import (
    NotificationRequestSerializer,
    NotificationSerializer,
    NotificationsSerializer,
)
from scheduler_admin.notifications.delivery.send import send_again, send_test
from scheduler_admin.notifications.delivery.webhook import UndeliveredError
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.rest.bodies import read_body
from scheduler_admin.rest.fields import represent
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.viewsets import Listed, NewestRows, Retrieved


class NotificationFilters(Parameters):
    """Which notifications."""

    state = Parameter(serializers.ChoiceField(Notification.State.choices, help_text="Delivery state."), "state")


class NotificationViewSet(Listed, Retrieved):
    """The newest notifications of a channel with their delivery state; with `state=dead` those that failed."""

    actions = {"GET": "view", "POST": "notify"}
    tag = "notifications"
    resource = "notification", "notifications"
    operations = {"create": "send_notification"}
    queryset = Notification.objects.all()
    serializer_class = NotificationSerializer
    list_class = NotificationsSerializer
    body_class = NotificationRequestSerializer
    filterset_class = NotificationFilters
    pagination_class = NewestRows
    most = selectors.SHOWN
    lookup_field = "guid"
    lookup_value_converter = "uuid"

    @cached_property
    def channel(self) -> Channel:
        """The channel that the address names. Raises Http404."""
        return selectors.channel(self.request.user, self.kwargs["pk"])

    def get_queryset(self) -> QuerySet[Notification]:
        """Return what the channel was to tell."""
        return super().get_queryset().filter(channel=self.channel)

    @extend_schema(responses={200: NotificationSerializer})
    def create(self, request: Request, **_place: Any) -> Response:
        """Send a test, or send a failed notification again, once. This takes some seconds; `error` has the result."""
        check_notifies(self.user, self.channel.tenant)
        given = read_body(self.body_class(data=request.data), request.data)
        try:
            row = (
                send_again(row=selectors.given_up(self.channel, given["id"]))
                if given
                else send_test(channel=self.channel)
            )
        except UndeliveredError as error:
            raise ValidationError(str(error)) from None
        return Response(represent(NotificationSerializer, row))
