"""Usage over time as it is sent."""

from typing import Any

from rest_framework import serializers

from scheduler_admin.rest.fields import UtcField


class UsageSampleSerializer(serializers.Serializer[Any]):
    """Usage in one interval."""

    started_at = UtcField(help_text="Start of the interval.")
    used = serializers.CharField(help_text="Average usage in the interval; a dominant share is a fraction of 1.")
    peak_used = serializers.CharField(help_text="Highest usage in the interval.")
    guaranteed = serializers.CharField(
        allow_null=True, help_text="Guarantee at the start of the interval; null if there was none."
    )
    max = serializers.CharField(allow_null=True, help_text="Max at the start of the interval; null if there was none.")
    deserved = serializers.CharField(
        allow_null=True, help_text="Average deserved share in the interval; null unless the policy was `deserved`."
    )
    pending_pods = serializers.IntegerField(help_text="Highest number of pending pods in the interval.")


class UsageSerializer(serializers.Serializer[Any]):
    """Usage of one resource by a queue over time."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    queue = serializers.CharField(help_text="Path of the queue.")
    resource = serializers.CharField(help_text="Name of the resource.")
    since = UtcField(help_text="Start of the period.")
    until = UtcField(help_text="End of the period.")
    step_seconds = serializers.IntegerField(
        help_text="Length of an interval in seconds; 10 is the original resolution."
    )
    samples = UsageSampleSerializer(many=True, help_text="Usage by interval, oldest first.")
