"""Notification channels and their notifications as they are sent and received."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from scheduler_admin.core import limits
from scheduler_admin.notifications.models import SITE_EVENTS, Channel, Notification

_SETTINGS = (
    *("name", "language", "about_to_be_preempted", "preempted", "eviction_refused", "preempted_repeatedly"),
    *("preemption_loop", "daily_digest", "below_guarantee_minutes", "site_events", "payload_format", "enabled"),
)


class NotificationChannelUpdateSerializer(serializers.ModelSerializer[Channel]):
    """Changes to a notification channel; address and secret are never returned."""

    about_to_be_preempted = serializers.BooleanField(
        required=False, help_text="True if the channel reports pods that are about to be preempted.", source="going"
    )
    below_guarantee_minutes = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=limits.MINUTES_BELOW,
        help_text="Minutes below its guarantee, with pending pods, after which a queue is reported; null for never.",
        source="below_min",
    )
    site_events = serializers.ListField(
        child=serializers.ChoiceField([(event.value, event.label) for event in SITE_EVENTS]),
        required=False,
        help_text="Events of the site that the channel reports, each once; empty for a channel of a tenant.",
    )
    address = serializers.CharField(
        required=False,
        write_only=True,
        max_length=limits.CHANNEL_ADDRESS,
        help_text="New full URL of the webhook, or new email address.",
    )
    secret = serializers.CharField(
        required=False,
        write_only=True,
        max_length=limits.SIGNING_SECRET,
        help_text="New secret that signs webhook requests: `whsec_` and 24 to 64 bytes in base64.",
    )

    rotate_secret = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="True to generate a new webhook secret, which only this response shows.",
    )

    class Meta:
        model = Channel
        fields = [*_SETTINGS, "address", "secret", "rotate_secret"]
        extra_kwargs = {
            "id": {"help_text": "Number of the channel."},
            "kind": {"help_text": "Type of the channel."},
            "name": {"help_text": "Name of the channel."},
            "language": {"help_text": "Language of the notifications."},
            "preempted": {"help_text": "True if the channel reports pods that were preempted."},
            "eviction_refused": {
                "source": "refused",
                "help_text": "True if the channel reports evictions that the cluster refused.",
            },
            "preempted_repeatedly": {
                "source": "repeated",
                "help_text": "True if the channel reports applications that are preempted repeatedly.",
            },
            "preemption_loop": {
                "source": "loop",
                "help_text": "True if the channel reports applications that preempt each other in a loop.",
            },
            "daily_digest": {
                "source": "digest",
                "help_text": "True if the channel sends a daily digest of the previous day.",
            },
            "payload_format": {
                "help_text": "Format of the body of a webhook: `standard-webhooks` or `cloudevents` (structured mode)."
            },
            "enabled": {"help_text": "True if the channel sends notifications."},
        }


class NewNotificationChannelSerializer(NotificationChannelUpdateSerializer):
    """A new notification channel; tenant and type cannot be changed later."""

    tenant = serializers.CharField(
        allow_null=True,
        max_length=limits.TENANT_NAME,
        help_text="Name of the tenant that the channel belongs to; null for a channel of the site, which admins add.",
    )
    address = serializers.CharField(
        write_only=True, max_length=limits.CHANNEL_ADDRESS, help_text="Full URL of the webhook, or the email address."
    )
    secret = serializers.CharField(
        required=False,
        write_only=True,
        max_length=limits.SIGNING_SECRET,
        help_text="Secret that signs webhook requests: `whsec_` and 24 to 64 bytes in base64; generated if missing.",
    )
    rotate_secret = None  # type: ignore[assignment]  # there is none yet that it could replace

    class Meta(NotificationChannelUpdateSerializer.Meta):
        fields = ["tenant", "kind", *NotificationChannelUpdateSerializer.Meta.fields[:-1]]


class NotificationChannelSerializer(NotificationChannelUpdateSerializer):
    """Where a tenant, or who runs the site, is notified, and of which events."""

    tenant = serializers.CharField(
        source="tenant.name",
        allow_null=True,
        help_text="Name of the tenant that the channel belongs to; null for a channel of the site.",
    )
    destination = serializers.CharField(source="address", help_text="Host of the webhook, or the email address.")

    class Meta(NotificationChannelUpdateSerializer.Meta):
        fields = ["id", "tenant", "kind", "destination", *NotificationChannelUpdateSerializer.Meta.fields]


class NotificationChannelWithSecretSerializer(NotificationChannelSerializer):
    """A notification channel with a signing secret that was just generated."""

    secret = serializers.SerializerMethodField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Signing secret that was just generated; null if none was generated."
    )

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_secret(self, _channel: Channel) -> str | None:
        """Return what the view has made."""
        return self.context["secret"] or None


class NotificationChannelsSerializer(serializers.Serializer[Any]):
    """Notification channels, ordered by tenant and name."""

    results = NotificationChannelSerializer(many=True, help_text="Notification channels, ordered by tenant and name.")


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    """A notification of a channel."""

    id = serializers.UUIDField(source="guid", help_text="UUID of the notification.")
    text = serializers.SerializerMethodField(help_text="Text of the notification, in the language of the channel.")

    class Meta:
        model = Notification
        fields = ["id", "event", "state", "text", "url", "created_at", "last_attempt_at", "attempts", "error"]
        extra_kwargs = {
            "event": {"help_text": "Event that is reported."},
            "state": {"help_text": "Delivery state."},
            "url": {"source": "link", "help_text": "URL of the page with details."},
            "created_at": {"help_text": "Time when the notification was created."},
            "last_attempt_at": {
                "source": "tried_at",
                "help_text": "Time of the last delivery attempt; null if none was made.",
            },
            "attempts": {"help_text": "Number of delivery attempts."},
            "error": {"help_text": "Error of the last attempt; empty if it succeeded."},
        }

    def get_text(self, row: Notification) -> str:
        """In the channel's language."""
        return " ".join(row.lines)


class NotificationsSerializer(serializers.Serializer[Any]):
    """The newest notifications of a channel."""

    results = NotificationSerializer(many=True, help_text="Notifications, newest first; at most twenty.")


@extend_schema_serializer(component_name="Notification")
class NotificationRequestSerializer(serializers.Serializer[Any]):
    """A notification to send."""

    id = serializers.UUIDField(
        required=False, help_text="UUID of a failed notification to send again; without it, a test is sent."
    )
