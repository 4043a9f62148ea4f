"""Notification channels and their notifications as they are sent and received."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from scheduler_admin.core import limits
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.services import SETTINGS


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

    secret = serializers.SerializerMethodField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Made here, and never shown again; null: none was made."
    )

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_secret(self, _channel: Channel) -> str | None:
        """Return what the view has made."""
        return self.context["secret"] or None


class ChannelsSerializer(serializers.Serializer[Any]):
    """By tenant and name."""

    results = ChannelSerializer(many=True)


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


class LatestSerializer(serializers.Serializer[Any]):
    """The newest first, twenty at most."""

    results = NotificationSerializer(many=True)


class SendingSerializer(serializers.Serializer[Any]):
    """What is sent by hand."""

    id = serializers.UUIDField(required=False, help_text="Of a message that was given up; without it a test is sent.")
