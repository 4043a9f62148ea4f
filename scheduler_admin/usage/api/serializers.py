"""Usage over time as it is sent."""

from typing import Any

from rest_framework import serializers

from scheduler_admin.rest.fields import UtcField


class SampleSerializer(serializers.Serializer[Any]):
    """Usage in one step of time."""

    at = UtcField(help_text="Where the step begins.")
    used = serializers.CharField(help_text="The mean of all samples in the step; a share is a part of 1.")
    highest = serializers.CharField(help_text="The highest of them.")
    guaranteed = serializers.CharField(allow_null=True, help_text="As the step began.")
    max = serializers.CharField(allow_null=True, help_text="As the step began.")
    deserved = serializers.CharField(allow_null=True, help_text="The mean. Null where the policy was not `deserved`.")
    asks_waiting = serializers.IntegerField(help_text="The most that waited.")


class UsageSerializer(serializers.Serializer[Any]):
    """One queue's usage of one resource over time."""

    cluster = serializers.CharField()
    queue = serializers.CharField()
    resource = serializers.CharField()
    to = UtcField()
    step_s = serializers.IntegerField(
        help_text="For how many seconds each sample stands, from `at` on; 10: as it was taken."
    )
    samples = SampleSerializer(many=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """``from`` is a word of Python, so it can't be declared above."""
        return {**super().get_fields(), "from": UtcField()}
