"""Decisions as they are sent."""

from typing import Any

from rest_framework import serializers

from engine.model.decision import Outcome
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.api.seen import SeenAsk, SeenDecision
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.rest.fields import AmountsField, DocumentField, UtcField, WorkField


class AskSerializer(serializers.Serializer[SeenAsk]):
    """The pod that wants room. Of another tenant's (`redacted`) is told what the site lets victims learn."""

    redacted = serializers.BooleanField()
    queue = serializers.CharField(allow_blank=True)
    uid = serializers.CharField(allow_null=True)
    namespace = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    application = serializers.CharField(allow_null=True)
    priority = serializers.IntegerField(allow_null=True)
    priority_class = serializers.CharField(allow_null=True)
    requests = AmountsField(allow_null=True)
    since = UtcField(allow_null=True, help_text="Since when the scheduler finds no room for it.")


class VictimSerializer(serializers.ModelSerializer[Victim]):
    """A pod that is evicted, or would be."""

    priority = serializers.IntegerField(allow_null=True, help_text="Null where it is not known.")
    attempts = serializers.IntegerField()
    requests = AmountsField()
    started_at = UtcField(allow_null=True)
    checkpoint_at = UtcField(allow_null=True, help_text="When it last wrote a checkpoint, as its annotation tells.")
    odd_checkpoint = serializers.CharField(help_text="What the annotation says where that is no time; else empty.")
    work_lost = WorkField(
        allow_null=True,
        help_text="What its eviction threw away: core, byte, device seconds. Null: not evicted, or not known.",
    )
    evicted_at = UtcField(allow_null=True)
    gone_at = UtcField(allow_null=True)
    state = serializers.ChoiceField(Victim.State.choices)
    preempted_in_day = serializers.IntegerField(
        allow_null=True, help_text="How often its application was, in the 24 hours up to then; null: not counted."
    )

    class Meta:
        model = Victim
        fields = [
            *("uid", "namespace", "name", "queue", "application", "priority", "requests", "node", "started_at"),
            *("checkpoint_at", "odd_checkpoint", "work_lost", "reason", "state", "attempts", "evicted_at", "gone_at"),
            "preempted_in_day",
        ]


class DecisionSerializer(serializers.Serializer[SeenDecision]):
    """One ask, what was decided, and what became of it."""

    id = serializers.IntegerField(source="decision.pk")
    cluster = serializers.CharField(source="decision.cluster.name")
    revision = serializers.IntegerField(source="decision.revision.number", allow_null=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source"
    )
    mode = serializers.ChoiceField(Cluster.Mode.choices, source="decision.mode")
    policy = serializers.CharField(source="decision.policy")
    dialect = serializers.CharField(source="decision.dialect")
    ask = AskSerializer()
    outcome = serializers.ChoiceField([outcome.value for outcome in Outcome], source="decision.outcome")
    reason = serializers.CharField(source="decision.reason")
    detail = serializers.CharField(allow_null=True, help_text="What the reason is about; null for another's ask.")
    node = serializers.CharField(source="decision.node")
    victims = VictimSerializer(many=True, help_text="For tenants: their own.")
    state = serializers.ChoiceField(Decision.State.choices, source="decision.state")
    ending = serializers.ChoiceField(Decision.Ending.choices, source="decision.ending", allow_blank=True)
    hold = serializers.CharField(source="decision.hold", help_text="The interlock that holds it back, or empty.")
    first_seen = UtcField(source="decision.first_seen")
    last_seen = UtcField(source="decision.last_seen")
    count = serializers.IntegerField(source="decision.count", help_text="How often it came out the same.")
    took_us = serializers.IntegerField(allow_null=True, help_text="Microseconds to decide; null: another decided.")
    deadline = UtcField(source="decision.deadline", allow_null=True)
    closed_at = UtcField(source="decision.closed_at", allow_null=True)


class DecisionsSerializer(serializers.Serializer[Any]):
    """A page of decisions, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = DecisionSerializer(many=True)


class StepSerializer(serializers.ModelSerializer[Step]):
    """Something that really happened."""

    at = UtcField()

    class Meta:
        model = Step
        fields = ["at", "kind", "pod", "note"]


class LawSerializer(serializers.Serializer[Any]):
    """A law held against the decision, with the arithmetic in the engine's integers (null for tenants)."""

    law = serializers.CharField()
    holds = serializers.BooleanField()
    sums = serializers.ListField(child=DocumentField(), allow_null=True)


class DecisionDetailSerializer(DecisionSerializer):
    """A decision with everything it rests on."""

    laws = LawSerializer(many=True)
    steps = StepSerializer(many=True, help_text="In order. For tenants: those of their own pods, without notes.")
    document = DocumentField(
        allow_null=True,
        help_text=(
            "The engine's decision with its trace, or what is known of another's; of a scheduler's with `hindsight`: "
            "what its own rules decide for the same ask on the cluster of just before. Null for tenants."
        ),
    )
    again = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text=(
            "Of another scheduler's: what its own rules answer for the same ask, and where the two differ, a sentence "
            "each. Null for tenants."
        ),
    )
    replayable = serializers.BooleanField(
        source="decision.replayable", help_text="Whether all that it rests on is still stored, to decide it again."
    )
