"""Where tenants are notified: read without secrets, made, changed, removed."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.views.decorators.debug import sensitive_variables
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.notifications import selectors
from scheduler_admin.notifications.api.serializers import (
    NewNotificationChannelSerializer,
    NotificationChannelSerializer,
    NotificationChannelsSerializer,
    NotificationChannelUpdateSerializer,
    NotificationChannelWithSecretSerializer,
)
from scheduler_admin.notifications.models import Channel
from scheduler_admin.notifications.services import (
    add_channel,
    change_channel,
    first_secret,
    fresh_secret,
    remove_channel,
)
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.viewsets import Changed, Created, Destroyed, Listed

_WRITES = frozenset({"create", "partial_update"})


class ChannelViewSet(Listed, Created, Changed, Destroyed, Tagged):
    """The notification channels that you may see, ordered by tenant and name."""

    actions = {"GET": "view", "POST": "notify", "PATCH": "notify", "DELETE": "notify"}
    tag = "notifications"
    etag_description = "Of the channel's settings."
    if_match_description = "The ETag of the settings that this changes."
    resource = "notification_channel", "notification_channels"
    queryset = Channel.objects.select_related("tenant")
    list_class = NotificationChannelsSerializer
    secret_made: str = ""
    """The secret that the request has made: its answer alone shows it."""

    def authorize(self, request: Request) -> None:
        """Hold the request against the action, and against whose channels there are for who asks.

        Raises Http404 for who belongs to no tenant and sees none, PermissionDenied for who may add a channel to none.
        """
        super().authorize(request)
        if self.action in {"list", "create"} and not selectors.has_any(request.user, "view"):
            raise Http404
        if self.action == "create" and not selectors.has_any(self.user, "notify"):
            raise PermissionDenied

    def get_object(self) -> Channel:
        """Return one that the reader may see. Raises PermissionDenied where it is changed by who may not."""
        found: Channel = super().get_object()
        if self.action != "retrieve":
            check_notifies(self.user, found.tenant)
        return found

    def get_serializer_class(self) -> type[NotificationChannelSerializer]:
        """Return what shows a secret that was just made, where one may be."""
        return NotificationChannelWithSecretSerializer if self.action in _WRITES else NotificationChannelSerializer

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the secret that was made."""
        return {**super().get_serializer_context(), "secret": self.secret_made}

    def get_body_class(self) -> type[serializers.Serializer[Any]]:
        """Return what is sent for the action."""
        return NewNotificationChannelSerializer if self.action == "create" else NotificationChannelUpdateSerializer

    @sensitive_variables()
    def create(self, request: Request, **place: Any) -> Response:
        """Create a channel; its events are reported from now on."""
        return super().create(request, **place)

    @sensitive_variables()
    def partial_update(self, request: Request, **place: Any) -> Response:
        """Change the settings that are sent."""
        return super().partial_update(request, **place)

    def answer(self, row: Channel, status: int = 200) -> Response:
        """Return a channel as it is now. What is kept of the answer is without the secret."""
        response = super().answer(row, status)
        if self.action in _WRITES:
            response.shown_once = ("secret",)  # type: ignore[attr-defined]  # see rest.idempotency
        return response

    @sensitive_variables()
    def make(self, given: dict[str, Any]) -> Channel:
        """Create a channel; its events are reported from now on."""
        tenant = selectors.own_tenant(self.user, given.pop("tenant"))
        kind, secret = given.pop("kind"), given.pop("secret", "")
        self.secret_made = first_secret(kind, secret)
        return add_channel(
            tenant=tenant,
            kind=kind,
            address=given.pop("address"),
            secret=secret or self.secret_made,
            values=given,
            actor=self.user,
        )

    @sensitive_variables()
    def change(self, row: Channel, given: dict[str, Any]) -> Channel:
        """Change the settings that are sent."""
        secret = given.pop("secret", "")
        if given.pop("rotate_secret", False):
            self.secret_made = fresh_secret(row.kind, secret)
        return change_channel(
            channel=row,
            address=given.pop("address", ""),
            secret=secret or self.secret_made,
            values=given,
            seen=selectors.tag(row),
            actor=self.user,
        )

    def remove(self, row: Channel) -> None:
        """Delete the channel."""
        remove_channel(channel=row, actor=self.user)

    def tag_of(self, found: Channel) -> str:
        """Return the ETag of the channel's settings."""
        return f'"{selectors.tag(found)}"'


def check_notifies(user: User, tenant: Tenant | None) -> None:
    """Raise PermissionDenied for who may not change a tenant's channels, or those of the site (None)."""
    if not selectors.has_channels_of(user, "notify", tenant):
        raise PermissionDenied
