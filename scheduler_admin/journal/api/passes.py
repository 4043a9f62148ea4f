"""Passes: what each run of the engine over a cluster came to."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.decision import Outcome
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import Pass
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import PageParameters
from scheduler_admin.rest.viewsets import InCluster, Listed, NewestPages


class PassFiguresSerializer(serializers.ModelSerializer[Pass]):
    """A pass that took a sample of usage or did something; others are not kept."""

    at = UtcField()
    revision = serializers.IntegerField(source="revision.number", allow_null=True)

    class Meta:
        model = Pass
        fields = ["id", "at", "revision", "took_us", "asks", "decided", "refused", "dropped", "evictions", "sampled"]
        extra_kwargs = {
            "took_us": {"help_text": "Microseconds."},
            "asks": {"help_text": "That were considered."},
            "evictions": {"help_text": "Pods that it set out to evict."},
        }


class PassesSerializer(serializers.Serializer[Any]):
    """A page of passes, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = PassFiguresSerializer(many=True)


class PassDetailSerializer(serializers.Serializer[Any]):
    """One pass, and what it was the first to decide."""

    cluster = serializers.CharField()
    pass_ = PassFiguresSerializer()
    decisions = serializers.ListField(
        child=serializers.IntegerField(), help_text="The decisions to preempt that it was the first to take."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """``pass`` is a word of Python, so it can't be declared above."""
        fields = super().get_fields()
        fields.pop("pass_")
        return {**fields, "pass": PassFiguresSerializer()}


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
        """Return one with its figures, and the decisions to preempt that it was the first to take."""
        found: Pass = self.get_object()
        taken = Decision.objects.restrict(request.user, "view").filter(
            cluster=found.cluster_id,
            outcome=Outcome.PREEMPT.value,
            first_seen=found.at,
            source=Decision.Source.ENGINE,
        )
        decisions = taken.order_by("pk").values_list("pk", flat=True)
        body = {"cluster": self.kwargs["name"], "pass": found, "decisions": decisions}
        return Response(PassDetailSerializer(body).data)
