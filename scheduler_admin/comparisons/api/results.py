"""The result of a comparison as clients read it: times in seconds, shares as decimals."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.planning.comparison import WHOLE, CoursePoint, SideFigures, Waits
from scheduler_admin.rest.fields import SecondsField, UtcField, WorkField


@extend_schema_field(OpenApiTypes.DOUBLE)
class ShareField(serializers.Field[int, Any, float, Any]):
    """A share between 0 and 1, of what the engine computes in millionths."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})

    def to_representation(self, value: int) -> float:
        """Return the share as a decimal."""
        return value / WHOLE


def _by_queue(field: serializers.Field[Any, Any, Any, Any], **settings: Any) -> serializers.DictField:
    return serializers.DictField(child=field, read_only=True, **settings)


class PlacementWaitsSerializer(serializers.Serializer[Waits]):
    """How long pods waited for a node."""

    median_seconds = SecondsField(source="half_ms", per_second=1000, help_text="Median wait of the placed pods.")
    p95_seconds = SecondsField(source="most_ms", per_second=1000, help_text="95th percentile of these waits.")
    total_seconds = SecondsField(
        source="sum_ms", per_second=1000, help_text="Sum of the waits of all pending pods, placed or not."
    )


class CoursePointSerializer(serializers.Serializer[CoursePoint]):
    """The state at one time of the compared period."""

    at = serializers.SerializerMethodField(help_text="Time of the state.")
    preempted_pods = serializers.IntegerField(source="preempted", help_text="Pods preempted since the start.")
    pending_pods = serializers.IntegerField(source="waiting", help_text="Number of pending pods.")
    queues_below_guarantee = serializers.IntegerField(
        source="short", help_text="Queues that were below their guarantee while pods waited for it."
    )
    fairness = ShareField(source="jain", allow_null=True, help_text="Jain's index; null if no queue had demand.")

    def get_at(self, point: CoursePoint) -> datetime:
        """Return the time of the state."""
        return datetime.fromtimestamp(point.at_ms / 1000, UTC)


class SideFiguresSerializer(serializers.Serializer[SideFigures]):
    """What happened, or would have happened, on one side."""

    preemptions = serializers.IntegerField(source="decisions", help_text="Number of decisions that preempted.")
    preempted_pods = serializers.IntegerField(source="preempted", help_text="Number of preempted pods.")
    repeatedly_preempted_pods = serializers.IntegerField(
        source="again", help_text="How many of these pods had been preempted before in the period."
    )
    affected_applications = serializers.IntegerField(
        source="applications", help_text="Number of applications that lost a pod."
    )
    lost_work = WorkField(source="work", help_text="Work that was lost, by resource.")
    pods_with_unknown_work = serializers.IntegerField(
        source="unknown", help_text="Preempted pods whose lost work is unknown."
    )
    placements = serializers.IntegerField(source="placed", help_text="How often a pending pod got a node.")
    pending_pods = serializers.IntegerField(source="waiting", help_text="Pods that still wait at the end.")
    waits = PlacementWaitsSerializer(allow_null=True, help_text="Waits of the pods; null if none was placed.")
    fairness = ShareField(
        source="jain", allow_null=True, help_text="Jain's index of the queues' dominant shares; null without demand."
    )
    below_guarantee_seconds = SecondsField(
        source="below_ms",
        per_second=1000,
        allow_null=True,
        help_text="How long any queue was below its guarantee; null for a single moment.",
    )
    queue_below_guarantee_seconds = _by_queue(
        SecondsField(per_second=1000), source="below", help_text="How long each queue was below its guarantee."
    )
    queue_pods_below_guarantee = _by_queue(
        serializers.IntegerField(),
        source="short",
        help_text="Pods of each queue that wait at the end for what the queue lacks of its guarantee.",
    )
    queue_shares = _by_queue(
        ShareField(), source="shares", help_text="Each leaf queue's dominant share of the cluster."
    )
    preemption_loop = serializers.ListField(
        child=serializers.CharField(),
        source="loop",
        help_text="Queues that would preempt each other forever; only for a single moment.",
    )
    stable = serializers.BooleanField(
        source="settles", allow_null=True, help_text="Whether preemption ends; null for a period."
    )
    course = CoursePointSerializer(many=True, help_text="States over time; empty for a single moment.")


class ComparisonResultSerializer(serializers.Serializer[Any]):
    """The figures of a comparison."""

    since = UtcField(help_text="Compared moment, or time from which there were records.")
    step_seconds = SecondsField(
        source="step_ms", per_second=1000, allow_null=True, help_text="Time between samples; null for a single moment."
    )
    record = SideFiguresSerializer(allow_null=True, help_text="What happened; null for a single moment.")
    sides = SideFiguresSerializer(many=True, help_text="Figures of each side, in the order of `sides`.")

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        """Read the stored figures, and show them."""
        record, sides = instance["record"], instance["sides"]
        read: dict[str, Any] = {
            "since": datetime.fromtimestamp(instance["since_ms"] / 1000, UTC),
            "step_ms": instance["step_ms"],
            "record": msgspec.convert(record, SideFigures) if record else None,
            "sides": msgspec.convert(sides, list[SideFigures]),
        }
        return super().to_representation(read)
