"""Decisions as they are sent."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engine.model.decision import Outcome
from engine.model.objects import GroupKind
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.links import pod_url
from scheduler_admin.decisions.api.seen import SeenDecision, SeenPendingPod
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.rest.fields import AmountsField, DocumentField, RowSerializer, UtcField, WorkField

GROUP_KINDS = [str(kind) for kind in GroupKind]
"""What a group of pods can be in a cluster."""


class PendingPodSerializer(RowSerializer[SeenPendingPod]):
    """A pending pod; of another tenant's pod only what the site settings show."""

    redacted = serializers.BooleanField(
        help_text="True if the pod belongs to another tenant and the site settings hide part of its data."
    )
    queue = serializers.CharField(allow_blank=True, help_text="Path of the pod's queue; empty if hidden.")
    uid = serializers.CharField(allow_null=True, help_text="UID of the pod; null if hidden.")
    namespace = serializers.CharField(allow_null=True, help_text="Namespace of the pod; null if hidden.")
    name = serializers.CharField(allow_null=True, help_text="Name of the pod; null if hidden.")
    group = serializers.CharField(
        allow_null=True,
        help_text="Pod group that the decision is about, in the same namespace; empty if it is about a single pod; "
        "null if hidden.",
    )
    group_kind = serializers.ChoiceField(
        ["", *GROUP_KINDS],
        allow_null=True,
        help_text="What the group is: `pod-group` (PodGroup of Kubernetes), `volcano` (PodGroup of Volcano) or "
        "`yunikorn` (application of YuniKorn); empty for a single pod; null if hidden.",
    )
    application = serializers.CharField(
        allow_null=True, help_text="Application that the pod belongs to; null if hidden."
    )
    priority = serializers.IntegerField(allow_null=True, help_text="Priority of the pod; null if hidden or unknown.")
    priority_class = serializers.CharField(allow_null=True, help_text="Priority class of the pod; null if hidden.")
    requests = AmountsField(allow_null=True, help_text="Resource requests of the pod; null if hidden.")
    since = UtcField(
        allow_null=True,
        help_text="Time since which the scheduler has found no room for the pod; null if hidden or unknown.",
    )


class VictimSerializer(RowSerializer[Victim], serializers.ModelSerializer[Victim]):
    """A pod that is evicted or would be evicted."""

    priority = serializers.IntegerField(allow_null=True, help_text="Priority of the pod; null if unknown.")
    attempts = serializers.IntegerField(help_text="Number of eviction requests.")
    requests = AmountsField(help_text="Resource requests of the pod.")
    started_at = UtcField(allow_null=True, help_text="Time when the pod started; null if unknown.")
    checkpoint_at = UtcField(
        allow_null=True, help_text="Time of the pod's last checkpoint, from its annotation; null if none."
    )
    invalid_checkpoint = serializers.CharField(
        help_text="Value of the checkpoint annotation if it is not a valid time; empty otherwise.",
        source="odd_checkpoint",
    )
    lost_work = WorkField(
        allow_null=True,
        help_text="Lost work by resource, in core, byte or device seconds; null if not evicted or unknown.",
        source="work_lost",
    )
    evicted_at = UtcField(allow_null=True, help_text="Time when the eviction was accepted; null if not evicted.")
    exited_at = UtcField(allow_null=True, source="gone_at", help_text="Time when the pod exited; null if it has not.")
    state = serializers.ChoiceField(Victim.State.choices, help_text="What happened to the pod.")
    application_preemptions_24h = serializers.IntegerField(
        allow_null=True,
        help_text="Preemptions of its application in the 24 hours up to the eviction; null if not counted.",
        source="preempted_in_day",
    )
    url = serializers.SerializerMethodField(help_text="URL of the page of the pod.")

    class Meta:
        model = Victim
        fields = [
            *("uid", "namespace", "name", "queue", "application", "priority", "requests", "node", "started_at"),
            *("checkpoint_at", "invalid_checkpoint", "lost_work", "reason", "state", "attempts", "evicted_at"),
            *("exited_at", "application_preemptions_24h", "url"),
        ]
        extra_kwargs = {
            "uid": {"help_text": "UID of the pod."},
            "namespace": {"help_text": "Namespace of the pod."},
            "name": {"help_text": "Name of the pod."},
            "queue": {"help_text": "Path of the pod's queue."},
            "application": {"help_text": "Application that the pod belongs to; empty if none."},
            "node": {"help_text": "Node of the pod."},
            "reason": {"help_text": "Code of the reason why the pod is a victim."},
        }

    @extend_schema_field(serializers.URLField())
    def get_url(self, victim: Victim) -> str:
        """Return the page of the pod."""
        return pod_url(victim.cluster.name, victim.namespace, victim.name)


class VictimWithSentenceSerializer(VictimSerializer):
    """A pod that is evicted or would be evicted, with the reason in a sentence."""

    sentence = serializers.SerializerMethodField(help_text="Why the pod is a victim, in the language of the request.")

    class Meta(VictimSerializer.Meta):
        fields = [*VictimSerializer.Meta.fields, "sentence"]

    def get_sentence(self, victim: Victim) -> str:
        """Return what the decision says of it."""
        sentence: str = self.context["sentences"][victim.uid]
        return sentence


class DecisionSerializer(RowSerializer[SeenDecision]):
    """What was decided for a pending pod, and how far it has been carried out."""

    id = serializers.IntegerField(source="decision.pk", help_text="Number of the decision.")
    cluster = serializers.CharField(source="decision.cluster.name", help_text="Name of the cluster.")
    revision = serializers.IntegerField(
        source="decision.revision.number",
        allow_null=True,
        help_text="Number of the revision that was used; null if unknown.",
    )
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source", help_text="Scheduler or component that made the decision."
    )
    mode = serializers.ChoiceField(
        Cluster.Mode.choices, source="decision.mode", help_text="Mode of the cluster when the decision was made."
    )
    policy = serializers.CharField(source="decision.policy", help_text="Policy that decided.")
    dialect = serializers.CharField(source="decision.dialect", help_text="Dialect of the policy.")
    pending_pod = PendingPodSerializer(help_text="The pending pod that the decision is about.")
    outcome = serializers.ChoiceField(
        [outcome.value for outcome in Outcome], source="decision.outcome", help_text="What was decided."
    )
    reason = serializers.CharField(source="decision.reason", help_text="Code of the reason for the outcome.")
    sentence = serializers.CharField(help_text="What was decided and why, in the language of the request.")
    reason_detail = serializers.CharField(
        allow_null=True, help_text="Queue, resource or rule that the reason refers to; null if hidden."
    )
    node = serializers.CharField(source="decision.node", help_text="Node chosen for the pending pod; empty if none.")
    victims = VictimSerializer(
        many=True, help_text="Pods that are evicted or would be evicted; tenants see only those of their own."
    )
    state = serializers.ChoiceField(
        Decision.State.choices, source="decision.state", help_text="How far the decision has been carried out."
    )
    ending = serializers.ChoiceField(
        Decision.Ending.choices,
        source="decision.ending",
        allow_blank=True,
        help_text="How the decision ended; empty if it has not ended.",
    )
    evicted_in_vain = serializers.IntegerField(
        help_text="Number of the listed victims that were evicted although the decision ended without its pods bound."
    )
    safeguard = serializers.CharField(
        source="decision.hold", help_text="Safeguard that keeps the decision on hold; empty if none."
    )
    decided_at = UtcField(source="decision.first_seen", help_text="Time when the decision was made or first observed.")
    last_evaluated_at = UtcField(
        source="decision.last_seen", help_text="Time when the pod was last evaluated with the same outcome."
    )
    evaluations = serializers.IntegerField(
        source="decision.count", help_text="Number of times that the pod was evaluated with this outcome."
    )
    duration_seconds = serializers.FloatField(
        allow_null=True, help_text="Seconds that the evaluation took; null for decisions of other schedulers."
    )
    expires_at = UtcField(
        source="decision.deadline",
        allow_null=True,
        help_text="Time when the decision ends if the pod is not bound; null if it has no deadline.",
    )
    closed_at = UtcField(
        source="decision.closed_at",
        allow_null=True,
        help_text="Time when the decision was closed; null if it is open or needs no closing.",
    )
    url = serializers.URLField(help_text="URL of the page of the decision.")


class DecisionsSerializer(serializers.Serializer[Any]):
    """A page of decisions, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = DecisionSerializer(many=True, help_text="Decisions, newest first.")


class DecisionStepSerializer(serializers.ModelSerializer[Step]):
    """Something that happened to a decision."""

    occurred_at = UtcField(source="at", help_text="Time of the step.")

    class Meta:
        model = Step
        fields = ["occurred_at", "kind", "pod", "message"]
        extra_kwargs = {
            "kind": {"help_text": "Kind of the step."},
            "pod": {"help_text": "Pod that the step concerns, as `namespace/name`; empty if none."},
            "message": {"source": "note", "help_text": "Details of the step; empty if none, or for tenants."},
        }


class SafetyCheckSerializer(serializers.Serializer[Any]):
    """The result of one safety check of a decision."""

    name = serializers.CharField(source="law", help_text="Code of the safety check.")
    passed = serializers.BooleanField(source="holds", help_text="True if the decision passed the check.")
    calculations = serializers.ListField(
        child=DocumentField(),
        allow_null=True,
        source="sums",
        help_text="Calculations of the check, in integer base units; null for tenants.",
    )


class GroupPodSerializer(serializers.Serializer[Any]):
    """A pending pod of a group."""

    uid = serializers.CharField(help_text="UID of the pod.")
    name = serializers.CharField(help_text="Name of the pod.")
    node = serializers.CharField(help_text="Node that the pod gets; empty if none.")


class TaskGroupSerializer(serializers.Serializer[Any]):
    """A task group of an application of YuniKorn."""

    name = serializers.CharField(help_text="Name of the task group.")
    required_pods = serializers.IntegerField(source="min_member", help_text="Number of its pods that must run at once.")


class CompositeGroupSerializer(serializers.Serializer[Any]):
    """A composite group, a group of groups. Its rules are shown, and not evaluated."""

    name = serializers.CharField(help_text="Name of the composite group, in the namespace of the group.")
    required_groups = serializers.IntegerField(
        source="min_groups", allow_null=True, help_text="Number of its groups that must run at once; null if any may."
    )
    disruption_mode = serializers.CharField(help_text="Whether its groups are evicted one by one: `single` or `all`.")
    priority = serializers.IntegerField(help_text="Priority of the composite group.")


class DecidedGroupSerializer(serializers.Serializer[Any]):
    """A pod group that was decided as a whole."""

    kind = serializers.ChoiceField(
        GROUP_KINDS,
        help_text="What the group is: `pod-group` (PodGroup of Kubernetes), `volcano` (PodGroup of Volcano) or "
        "`yunikorn` (application of YuniKorn).",
    )
    namespace = serializers.CharField(help_text="Namespace of the group.")
    name = serializers.CharField(help_text="Name of the group.")
    uid = serializers.CharField(help_text="UID of the group.")
    priority = serializers.IntegerField(help_text="Priority of the group.")
    required_pods = serializers.IntegerField(source="needed", help_text="Number of pods that must run at once.")
    running_pods = serializers.IntegerField(source="bound", help_text="Number of its pods that had a node before.")
    pods = GroupPodSerializer(many=True, help_text="Its pending pods, with their nodes.")
    task_groups = TaskGroupSerializer(many=True, help_text="Task groups of an application of YuniKorn; else empty.")
    fails_on_timeout = serializers.BooleanField(
        source="hard",
        allow_null=True,
        help_text="Whether YuniKorn fails the application once its placeholders time out; null for other kinds.",
    )
    workload = serializers.CharField(
        help_text="Workload (`scheduling.k8s.io`) that the PodGroup was made for; empty if none."
    )
    composite_groups = CompositeGroupSerializer(
        source="composites", many=True, help_text="Composite groups that the PodGroup is part of, the nearest first."
    )


class DecisionDetailSerializer(DecisionSerializer):
    """A decision with everything that it is based on."""

    group = DecidedGroupSerializer(
        allow_null=True,
        help_text="Pod group that was decided as a whole; null for a single pod, for decisions of other schedulers, or "
        "if hidden.",
    )

    victims = serializers.SerializerMethodField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Pods that are evicted or would be evicted; tenants see only those of their own."
    )
    safety_checks = SafetyCheckSerializer(many=True, help_text="Safety checks of the decision, with their results.")
    steps = DecisionStepSerializer(
        many=True, help_text="What happened, in order; tenants see only steps about their own pods, without messages."
    )
    document = DocumentField(
        allow_null=True,
        help_text="The engine's decision document with its trace; null for tenants.",
    )
    replay_sentences = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="What the other scheduler's own rules decide for the same pod, in sentences; null for tenants.",
    )
    replayable = serializers.BooleanField(
        source="decision.replayable", help_text="True if all data for a replay of the decision is still stored."
    )

    @extend_schema_field(VictimWithSentenceSerializer(many=True))
    def get_victims(self, seen: SeenDecision) -> Any:
        """Return the victims, each with the reason in a sentence."""
        context = {**self.context, "sentences": seen.victim_sentences}
        return VictimWithSentenceSerializer(seen.victims, many=True, context=context).data
