"""How long a queue's asks wait, by REST."""

from typing import Any

from rest_framework import serializers

from engine.observation.wait_estimates import Checked, Estimate, PredictionVerdict
from scheduler_admin.core.translation import text
from scheduler_admin.pending.models import Wait
from scheduler_admin.pending.wait_sentences import told
from scheduler_admin.rest.fields import SecondsField, UtcField


class WaitEstimateSerializer(serializers.Serializer[Estimate]):
    """How long pods usually wait, from the last 14 days."""

    median_seconds = SecondsField(
        per_second=1_000,
        source="half_ms",
        help_text="Seconds within which half of the pods got room in the last 14 days.",
    )
    p90_seconds = SecondsField(
        per_second=1_000,
        source="most_ms",
        allow_null=True,
        help_text="Seconds within which nine in ten pods got room; null if too few are known.",
    )
    sample_count = serializers.IntegerField(help_text="Number of pods that the estimate is based on.", source="known")


class PodWaitEstimateSerializer(serializers.Serializer[Wait]):
    """How long a pod may wait, as estimated when it was first seen."""

    since = UtcField(help_text="Time since which the pod has been pending.")
    based_on_similar_pods = serializers.BooleanField(
        help_text="True if based on pods with similar requests and the same priority, false if on its queue.",
        source="alike",
    )
    estimate = WaitEstimateSerializer(
        source="told",
        allow_null=True,
        help_text="Estimate when the pod was first seen; null if too few pods were known.",
    )
    sentence = serializers.SerializerMethodField(
        help_text="The estimate in one sentence, in the language of the request."
    )

    def get_sentence(self, wait: Wait) -> str:
        """The estimate in a sentence."""
        return text(told(wait.told, alike=wait.alike))


class EstimateAccuracySerializer(serializers.Serializer[Checked]):
    """How often an estimate proved right."""

    pods_within_estimate = serializers.IntegerField(
        source="in_time", help_text="Number of checked pods that got room within the estimated time."
    )
    checked_pods = serializers.IntegerField(
        source="of", help_text="Number of pods whose wait could be compared with the estimate."
    )
    verdict = serializers.ChoiceField(
        [one.value for one in PredictionVerdict], help_text="Whether the estimate proved right."
    )


class QueueWaitEstimateSerializer(serializers.Serializer[Any]):
    """How long pods wait in a leaf queue, and how often the estimate proved right."""

    estimate = WaitEstimateSerializer(
        allow_null=True, help_text="Usual wait of pods in the queue; null if too few pods are known."
    )
    median_accuracy = EstimateAccuracySerializer(
        allow_null=True, help_text="How often the median proved right; null for tenants or without data.", source="half"
    )
    p90_accuracy = EstimateAccuracySerializer(
        allow_null=True,
        source="most",
        help_text="How often the 90th percentile proved right; null for tenants or without data.",
    )
