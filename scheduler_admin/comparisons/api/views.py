"""Comparisons: begun, followed, read, stopped."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from engine.policies import known_dialects
from scheduler_admin.comparisons import selectors, services
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.sides import Chosen
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.viewsets import Created, InCluster, Listed, NewestRows


class AskedSideSerializer(serializers.Serializer[Any]):
    """A side as it is asked for."""

    tree = serializers.CharField(
        max_length=limits.COMPARED_TREE,
        default="current",
        help_text="current, or a revision or a draft by its number: revision:7, draft:12.",
    )
    policy = serializers.CharField(
        max_length=20,
        required=False,
        default="",
        allow_blank=True,
        help_text="Empty: the tree's own, with its parameters.",
    )
    dialect = serializers.CharField(
        max_length=20, required=False, default="", allow_blank=True, help_text="Empty: the policy's first."
    )

    def to_internal_value(self, data: Any) -> Any:
        """As the service takes it."""
        read: dict[str, str] = super().to_internal_value(data)
        policy = read["policy"]
        dialect = read["dialect"] or known_dialects().get(policy, ("",))[0]
        return Chosen(read["tree"], f"{policy}/{dialect}" if policy else "")


class ComparedSideSerializer(serializers.Serializer[Any]):
    """A side as it was when the comparison was begun."""

    revision = serializers.IntegerField(required=False, help_text="The tree's, if it is a revision's.")
    draft = serializers.CharField(required=False, help_text="The draft's name, if it is a draft's.")
    version = serializers.IntegerField(required=False, help_text="Of the draft.")
    policy = serializers.CharField()
    dialect = serializers.CharField()
    parameters = serializers.JSONField()


class NewComparisonSerializer(serializers.Serializer[Any]):
    """What is to be compared."""

    since = UtcField(required=False, allow_null=True, default=None, help_text="The moment, or when the time begins.")
    until = UtcField(
        required=False, allow_null=True, default=None, help_text="Null: one moment, by default the newest."
    )
    sides = AskedSideSerializer(many=True)


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """A comparison, without what it found."""

    id = serializers.IntegerField(source="pk")
    by = serializers.CharField(source="author_name")
    created_at = UtcField()
    since = UtcField()
    until = UtcField(allow_null=True, help_text="Null: one moment.")
    snapshot = serializers.CharField(
        source="of_snapshot", help_text="The saved snapshot that it is about; empty: none."
    )
    began_at = UtcField(allow_null=True)
    ended_at = UtcField(allow_null=True)
    sides = ComparedSideSerializer(many=True)

    class Meta:
        model = Comparison
        fields: tuple[str, ...] = (
            *("id", "by", "created_at", "since", "until", "snapshot", "sides", "state", "trouble"),
            *("done", "steps", "began_at", "ended_at"),
        )


class FoundSerializer(ComparisonSerializer):
    """A comparison, with what it found."""

    result = serializers.JSONField(
        allow_null=True,
        help_text="Null until it is done. record: what happened, null for a moment; sides: the figures of each. Times "
        "are milliseconds, shares and jain millionths, work is in each resource's integer unit times seconds.",
    )

    class Meta(ComparisonSerializer.Meta):
        fields = (*ComparisonSerializer.Meta.fields, "result")


class ComparisonsSerializer(serializers.Serializer[Any]):
    """The newest comparisons, newest first."""

    results = ComparisonSerializer(many=True)


class ComparisonViewSet(Listed, Created, InCluster):
    """The newest comparisons of a cluster."""

    actions = {"GET": "view", "POST": "plan"}
    staff_only = True
    tag = "comparisons"
    resource = "comparison", "comparisons"
    operations = {"create": "begin_comparison", "retrieve": "read_comparison", "stop": "stop_comparison"}
    queryset = Comparison.objects.all()
    list_class = ComparisonsSerializer
    body_class = NewComparisonSerializer
    pagination_class = NewestRows
    most = selectors.PAGE

    def get_queryset(self) -> QuerySet[Comparison]:
        """Return the comparisons of the cluster, with what was found only where one is read."""
        rows = super().get_queryset()
        return rows if self.action == "retrieve" else rows.defer("result", "measure")

    def get_serializer_class(self) -> type[ComparisonSerializer]:
        """Return what shows a comparison, with what it found where one is read."""
        return FoundSerializer if self.action == "retrieve" else ComparisonSerializer

    def retrieve(self, request: Request, **place: Any) -> Response:
        """How far it is, and what it found."""
        del request, place
        row: Comparison = self.get_object()
        response = self.answer(row)
        response["ETag"] = f'"{row.pk}-{row.state}-{row.done}"'
        return response

    def make(self, given: dict[str, Any]) -> Comparison:
        """It waits for its worker; read it again until it is done. Nothing happens to the cluster."""
        return services.start(cluster=self.named_cluster, author=self.user, **given)

    @action(detail=True, methods=["post"])
    def stop(self, request: Request, **_place: Any) -> Response:
        """Its worker hears within a second; one that has ended stays as it is. For who began it, and operators."""
        del request
        row: Comparison = self.get_object()
        if not selectors.may_stop(self.user, row):
            raise PermissionDenied
        services.stop(comparison=row, actor=self.user)
        row.refresh_from_db()
        return self.answer(row)
