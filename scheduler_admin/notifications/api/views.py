"""Where tenants are notified: read without secrets, made, changed, tried, removed."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404
from django.views.decorators.debug import sensitive_variables
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.core import limits
from scheduler_admin.notifications import selectors
from scheduler_admin.notifications.delivery.send import send_again, send_test
from scheduler_admin.notifications.delivery.webhook import UndeliveredError
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import (
    SETTINGS,
    add_channel,
    change_channel,
    first_secret,
    fresh_secret,
    remove_channel,
)
from scheduler_admin.rest import etags, problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.openapi.parts import PROBLEM, etag, if_match
from scheduler_admin.rest.problems import unacceptable

_CLASHES = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (412, 428)}
_ETAG = etag("Of the channel's settings.", 200, 304)
_IF_MATCH = if_match("The ETag of the settings that this changes.")


class ChangedSerializer(serializers.ModelSerializer[Channel]):
    """What of a channel may be changed: of what it tells, and where it leads, which is never read back."""

    going = serializers.BooleanField(required=False, help_text="Tells of pods that are about to be preempted.")
    below_min = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=limits.MINUTES_BELOW,
        help_text="Minutes below guarantee with asks waiting after which it tells of a queue; null: never.",
    )
    address = serializers.CharField(
        required=False,
        write_only=True,
        max_length=limits.CHANNEL_ADDRESS,
        help_text="A webhook's whole address, or a mail address.",
    )
    secret = serializers.CharField(
        required=False, write_only=True, max_length=limits.SIGNING_SECRET, help_text="Signs what a webhook is sent."
    )

    new_secret = serializers.BooleanField(
        required=False, write_only=True, help_text="Of a webhook: makes another secret, which this answer shows once."
    )

    class Meta:
        model = Channel
        fields = [*SETTINGS, "address", "secret", "new_secret"]


class MadeSerializer(ChangedSerializer):
    """The same, with whose it is and of what kind, which stays."""

    tenant = serializers.CharField(max_length=limits.TENANT_NAME)
    address = serializers.CharField(write_only=True, max_length=limits.CHANNEL_ADDRESS)
    secret = serializers.CharField(
        required=False,
        write_only=True,
        max_length=limits.SIGNING_SECRET,
        help_text="Signs what a webhook is sent; without it one is made.",
    )
    new_secret = None  # type: ignore[assignment]  # there is none yet that it could replace

    class Meta(ChangedSerializer.Meta):
        fields = ["tenant", "kind", *ChangedSerializer.Meta.fields[:-1]]


class ChannelSerializer(ChangedSerializer):
    """Where a tenant is notified, and of what."""

    tenant = serializers.CharField(source="tenant.name")
    leads_to = serializers.CharField(source="address", help_text="A webhook's host, or the mail address.")

    class Meta(ChangedSerializer.Meta):
        fields = ["id", "tenant", "kind", "leads_to", *ChangedSerializer.Meta.fields]


class ShownOnceSerializer(ChannelSerializer):
    """The same, with a signing secret that was just made here."""

    secret = serializers.CharField(
        read_only=True, allow_null=True, help_text="Made here, and never shown again; null: none was made."
    )


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    """What was to be told."""

    id = serializers.UUIDField(source="guid")
    text = serializers.SerializerMethodField()

    class Meta:
        model = Notification
        fields = ["id", "event", "state", "text", "link", "created_at", "tried_at", "attempts", "error"]

    def get_text(self, row: Notification) -> str:
        """In the channel's language."""
        return " ".join(row.lines)


class ChannelsSerializer(serializers.Serializer[Any]):
    """By tenant and name."""

    results = ChannelSerializer(many=True)


class LatestSerializer(serializers.Serializer[Any]):
    """The newest first, twenty at most."""

    results = NotificationSerializer(many=True)


class LatestParameters(serializers.Serializer[Any]):
    """Which of them."""

    state = serializers.ChoiceField(Notification.State.choices, required=False, help_text="Only these.")


class SendingSerializer(serializers.Serializer[Any]):
    """What is sent by hand."""

    id = serializers.UUIDField(required=False, help_text="Of a message that was given up; without it a test is sent.")


class _ChannelView(ApiView):
    """What these share."""

    def channel(self, pk: int) -> Channel:
        """One that the user may see. Raises Http404."""
        return selectors.channel(self.request.user, pk)

    def theirs(self, pk: int) -> tuple[Channel, User]:
        """One that the user may change, and who that is. Raises Http404, PermissionDenied or InsufficientScope."""
        found = self.channel(pk)
        return found, self.notifier(found.tenant)

    def notifier(self, tenant: Tenant | None = None) -> User:
        """Who asks, if they may change a tenant's channels, or at all any's. Raises PermissionDenied."""
        user = self.request.user
        self.demand("notify")
        own = selectors.tenants_of(user, "notify")
        if not (own.filter(pk=tenant.pk) if tenant else own).exists():
            raise PermissionDenied
        assert isinstance(user, User)
        return user


class ChannelsView(_ChannelView):
    """All that one may see."""

    actions = {"GET": "view", "POST": "notify"}

    @extend_schema(
        operation_id="list_notification_channels",
        tags=["notifications"],
        responses={200: ChannelsSerializer, **PROBLEM},
    )
    def get(self, request: Request) -> Response:
        """By tenant and name."""
        self.demand_any()
        return Response(ChannelsSerializer({"results": selectors.channels(request.user)}).data)

    @extend_schema(
        operation_id="add_notification_channel",
        tags=["notifications"],
        request=MadeSerializer,
        responses={201: ShownOnceSerializer, **PROBLEM, **REFUSED},
    )
    @sensitive_variables()
    def post(self, request: Request) -> Response:
        """The tenant is told there from now on."""
        self.demand_any()
        actor = self.notifier()
        given = read_body(MadeSerializer(data=request.data), request.data)
        tenant = selectors.own_tenant(actor, given.pop("tenant"))
        kind, secret = given.pop("kind"), given.pop("secret", "")
        fresh = first_secret(kind, secret)
        made = add_channel(
            tenant=tenant,
            kind=kind,
            address=given.pop("address"),
            secret=secret or fresh,
            values=given,
            actor=actor,
        )
        return _written(made, fresh, status=201)

    def demand_any(self) -> None:
        """Raise Http404 for who belongs to no tenant and sees none."""
        if not selectors.tenants_of(self.request.user, "view").exists():
            raise Http404


class ChannelView(_ChannelView):
    """One channel."""

    actions = {"GET": "view", "PATCH": "notify", "DELETE": "notify"}

    @extend_schema(
        operation_id="get_notification_channel",
        tags=["notifications"],
        parameters=[_ETAG],
        responses={200: ChannelSerializer, **PROBLEM},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Its settings."""
        del request
        found = self.channel(pk)
        return Response(ChannelSerializer(found).data, headers={"ETag": _tag(found)})

    @extend_schema(
        operation_id="patch_notification_channel",
        tags=["notifications"],
        parameters=[_IF_MATCH, _ETAG],
        request=ChangedSerializer(partial=True),
        responses={200: ShownOnceSerializer, **PROBLEM, **REFUSED, **_CLASHES},
    )
    @transaction.atomic
    @sensitive_variables()
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is given."""
        found, actor = self.theirs(pk)
        given = read_body(ChangedSerializer(found, data=request.data, partial=True), request.data)
        etags.check(request, _tag(found), required=True)
        secret = given.pop("secret", "")
        fresh = fresh_secret(found.kind, secret) if given.pop("new_secret", False) else ""
        changed = change_channel(
            channel=found,
            address=given.pop("address", ""),
            secret=secret or fresh,
            values=given,
            seen=selectors.tag(found),
            actor=actor,
        )
        return _written(changed, fresh)

    @extend_schema(
        operation_id="delete_notification_channel",
        tags=["notifications"],
        parameters=[_IF_MATCH],
        responses={204: None, **PROBLEM, **REFUSED, **_CLASHES},
    )
    def delete(self, request: Request, pk: int) -> Response:
        """The tenant is told there no longer."""
        found, actor = self.theirs(pk)
        etags.check(request, _tag(found), required=True)
        remove_channel(channel=found, actor=actor)
        return Response(status=204)


class LatestView(_ChannelView):
    """What a channel was to tell."""

    actions = {"GET": "view", "POST": "notify"}

    queries = {"GET": LatestParameters}

    @extend_schema(
        operation_id="list_notifications",
        tags=["notifications"],
        parameters=[LatestParameters],
        responses={200: LatestSerializer, **PROBLEM},
    )
    def get(self, request: Request, pk: int) -> Response:
        """The latest, and whether they have arrived; with `state=dead` those that were given up."""
        del request
        found = selectors.latest(self.channel(pk), self.asked.get("state", ""))
        return Response(LatestSerializer({"results": found}).data)

    @extend_schema(
        operation_id="send_notification",
        tags=["notifications"],
        request=SendingSerializer,
        responses={200: NotificationSerializer, **PROBLEM, **REFUSED},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Send a test, or again, once, what was given up. It takes some seconds; ``error`` says what went wrong."""
        found, _actor = self.theirs(pk)
        given = read_body(SendingSerializer(data=request.data), request.data)
        try:
            row = send_again(row=selectors.given_up(found, given["id"])) if given else send_test(channel=found)
        except UndeliveredError as error:
            raise unacceptable(ValidationError(str(error))) from None
        except ValidationError as error:
            raise unacceptable(error) from None
        return Response(NotificationSerializer(row).data)


@sensitive_variables()
def _written(found: Channel, fresh: str, status: int = 200) -> Response:
    """A channel after a change, with the secret that was made. What is kept of the answer is without it."""
    body = {**ChannelSerializer(found).data, "secret": fresh or None}
    response = Response(body, status=status, headers={"ETag": _tag(found)})
    response.shown_once = ("secret",)  # type: ignore[attr-defined]  # see api.idempotency
    return response


def _tag(found: Channel) -> str:
    return f'"{selectors.tag(found)}"'
