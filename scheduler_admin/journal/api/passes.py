"""Passes: what each run of the engine over a cluster came to."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.decision import Outcome
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import Pass
from scheduler_admin.rest.fields import SecondsField, UtcField, represent
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import PageParameters
from scheduler_admin.rest.viewsets import InCluster, Listed, NewestPages


class PassSummarySerializer(serializers.ModelSerializer[Pass]):
    """A pass that sampled usage or did something; others are not stored."""

    started_at = UtcField(source="at", help_text="Time when the pass started.")
    revision = serializers.IntegerField(
        source="revision.number",
        allow_null=True,
        help_text="Number of the revision that the pass used; null if unknown.",
    )
    duration_seconds = SecondsField(per_second=1_000_000, source="took_us", help_text="Seconds that the pass took.")

    class Meta:
        model = Pass
        fields = [
            *("id", "started_at", "revision", "duration_seconds", "pending_pods", "preemption_decisions"),
            *("rejected_decisions", "decisions_on_hold", "evictions", "sampled"),
        ]
        extra_kwargs = {
            "id": {"help_text": "Number of the pass."},
            "pending_pods": {"source": "asks", "help_text": "Number of pending pods that the pass considered."},
            "preemption_decisions": {"source": "decided", "help_text": "Number of decisions to preempt."},
            "rejected_decisions": {"source": "refused", "help_text": "Number of decisions that failed a safety check."},
            "decisions_on_hold": {
                "source": "dropped",
                "help_text": "Number of decisions that a safeguard put on hold.",
            },
            "evictions": {"help_text": "Number of pods that the pass started to evict."},
            "sampled": {"help_text": "True if the pass recorded a usage sample."},
        }


class PassesSerializer(serializers.Serializer[Any]):
    """A page of passes, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = PassSummarySerializer(many=True, help_text="Passes, newest first.")


class PassDetailSerializer(serializers.Serializer[Any]):
    """A pass with the decisions that it made first."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    pass_ = PassSummarySerializer()
    decision_ids = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Numbers of the preemption decisions that this pass made first.",
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """``pass`` is a word of Python, so it can't be declared above."""
        fields = super().get_fields()
        fields.pop("pass_")
        return {**fields, "pass": PassSummarySerializer(help_text="The pass.")}


class PassFilters(Parameters):
    """Which passes."""

    ranges = (("since", "until"),)
    since = Parameter(UtcField(help_text="At or after this time, RFC 3339."), "at__gte")
    until = Parameter(UtcField(help_text="Before this time, RFC 3339."), "at__lt")


class PassViewSet(Listed, InCluster):
    """The passes of a cluster, for those who see everything."""

    actions = {"GET": "view"}
    queries = {"GET": PageParameters}
    staff_only = True
    tag = "clusters"
    resource = "pass", "passes"
    queryset = Pass.objects.select_related("revision")
    serializer_class = PassDetailSerializer
    list_class = PassesSerializer
    filterset_class = PassFilters
    pagination_class = NewestPages
    newest_by = "at"

    def retrieve(self, request: Request, **_place: Any) -> Response:
        """A pass with its numbers and the preemption decisions that it made first."""
        found: Pass = self.get_object()
        taken = Decision.objects.restrict(request.user, "view").filter(
            cluster=found.cluster_id,
            outcome=Outcome.PREEMPT.value,
            first_seen=found.at,
            source=Decision.Source.ENGINE,
        )
        decisions = taken.order_by("pk").values_list("pk", flat=True)
        body = {"cluster": self.kwargs["name"], "pass": found, "decision_ids": decisions}
        return Response(represent(PassDetailSerializer, body))
