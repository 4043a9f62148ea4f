"""How long a queue's asks wait, by REST."""

from typing import Any

from rest_framework import serializers

from engine.observation.wait_estimates import Checked, Estimate, PredictionVerdict
from scheduler_admin.core.translation import text
from scheduler_admin.pending.models import Wait
from scheduler_admin.pending.wait_sentences import told
from scheduler_admin.rest.fields import UtcField


class EstimateSerializer(serializers.Serializer[Estimate]):
    """Within how long such asks got room, in the last fortnight."""

    half_ms = serializers.IntegerField(help_text="Half of them.")
    most_ms = serializers.IntegerField(allow_null=True, help_text="Nine of ten; null: too few are known.")
    known = serializers.IntegerField(help_text="From how many that got room.")


class WaitSerializer(serializers.Serializer[Wait]):
    """How long one ask may wait, as it was told when it was first seen."""

    since = UtcField()
    alike = serializers.BooleanField(help_text="True: from asks of like size and the same priority; else of its queue.")
    estimate = EstimateSerializer(source="told", allow_null=True, help_text="Null: too few were known.")
    text = serializers.SerializerMethodField()

    def get_text(self, wait: Wait) -> str:
        """The estimate in a sentence."""
        return text(told(wait.told, alike=wait.alike))


class CheckedSerializer(serializers.Serializer[Checked]):
    """What came of what was told."""

    in_time = serializers.IntegerField()
    of = serializers.IntegerField()
    verdict = serializers.ChoiceField([one.value for one in PredictionVerdict])


class QueueWaitsSerializer(serializers.Serializer[Any]):
    """How long the asks of a leaf wait, and whether that came true."""

    estimate = EstimateSerializer(allow_null=True, help_text="Null: too few are known.")
    half = CheckedSerializer(allow_null=True, help_text="What came of that; null for tenants.")
    most = CheckedSerializer(allow_null=True)
