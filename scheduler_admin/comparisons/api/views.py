"""Comparisons: begun, followed, read, stopped."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from engine.policies import known_dialects
from scheduler_admin.comparisons import selectors, services
from scheduler_admin.comparisons.api.results import ComparisonResultSerializer
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.sides import Chosen
from scheduler_admin.comparisons.summary import summary
from scheduler_admin.core import limits
from scheduler_admin.rest.etags import Tagged
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.viewsets import Created, Destroyed, InCluster, Listed, NewestRows


class ComparisonSideRequestSerializer(serializers.Serializer[Any]):
    """A side to compare."""

    tree = serializers.CharField(
        max_length=limits.COMPARED_TREE,
        default="current",
        help_text="Queue tree of this side: `current`, `revision:7` or `draft:12`.",
    )
    policy = serializers.CharField(
        max_length=20,
        required=False,
        default="",
        allow_blank=True,
        help_text="Policy of this side; empty for the policy and parameters of the tree.",
    )
    dialect = serializers.CharField(
        max_length=20,
        required=False,
        default="",
        allow_blank=True,
        help_text="Dialect of the policy; empty for the first dialect of the policy.",
    )

    def to_internal_value(self, data: Any) -> Any:
        """As the service takes it."""
        read: dict[str, str] = super().to_internal_value(data)
        policy = read["policy"]
        dialect = read["dialect"] or known_dialects().get(policy, ("",))[0]
        return Chosen(read["tree"], f"{policy}/{dialect}" if policy else "")


class ComparisonSideSerializer(serializers.Serializer[Any]):
    """A side of a comparison, as it was when the comparison was created."""

    revision = serializers.IntegerField(
        required=False, help_text="Number of the compared revision; missing if the side is no revision."
    )
    draft_name = serializers.CharField(
        required=False, help_text="Name of the compared draft; missing if the side is no draft.", source="draft"
    )
    draft_version = serializers.IntegerField(
        required=False, help_text="Version of the compared draft; missing if the side is no draft.", source="version"
    )
    policy = serializers.CharField(help_text="Policy that decides on this side.")
    dialect = serializers.CharField(help_text="Dialect of the policy.")
    parameters = serializers.JSONField(help_text="Parameters of the policy.")


class NewComparisonSerializer(serializers.Serializer[Any]):
    """A comparison to create."""

    since = UtcField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Moment to compare, or start of the compared period; null for the newest data.",
    )
    until = UtcField(
        required=False, allow_null=True, default=None, help_text="End of the compared period; null for a single moment."
    )
    sides = ComparisonSideRequestSerializer(many=True, help_text="Sides to compare.")


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """A comparison without its result."""

    id = serializers.IntegerField(source="pk", help_text="Number of the comparison.")
    created_by = serializers.CharField(source="author_name", help_text="Name of the user who created the comparison.")
    created_at = UtcField(help_text="Time when the comparison was created.")
    since = UtcField(help_text="Compared moment, or start of the compared period.")
    until = UtcField(allow_null=True, help_text="End of the compared period; null for a single moment.")
    snapshot = serializers.CharField(
        source="of_snapshot", help_text="Name of the compared snapshot; empty if the data comes from the journal."
    )
    started_at = UtcField(
        allow_null=True,
        source="began_at",
        help_text="Time when the worker started the comparison; null if not started.",
    )
    ended_at = UtcField(allow_null=True, help_text="Time when the comparison ended; null if it has not ended.")
    sides = ComparisonSideSerializer(many=True, help_text="Compared sides, in the order of the request.")

    class Meta:
        model = Comparison
        fields: tuple[str, ...] = (
            *("id", "created_by", "created_at", "since", "until", "snapshot", "sides", "state", "error"),
            *("completed_steps", "total_steps", "started_at", "ended_at"),
        )
        extra_kwargs = {
            "state": {"help_text": "State of the comparison."},
            "error": {"source": "trouble", "help_text": "Why the comparison failed; empty if it did not."},
            "completed_steps": {"source": "done", "help_text": "Number of completed steps."},
            "total_steps": {"source": "steps", "help_text": "Total number of steps, as far as known."},
        }


class ComparisonDetailSerializer(ComparisonSerializer):
    """A comparison with its result."""

    summary = serializers.SerializerMethodField(help_text="What to take from the result; empty until it is done.")
    result = ComparisonResultSerializer(allow_null=True, help_text="Figures of the comparison; null until it is done.")

    class Meta(ComparisonSerializer.Meta):
        fields = (*ComparisonSerializer.Meta.fields, "summary", "result")

    def get_summary(self, comparison: Comparison) -> list[str]:
        """Return the sentences in the language of the request."""
        return summary(comparison)


class ComparisonsSerializer(serializers.Serializer[Any]):
    """The newest comparisons, newest first."""

    results = ComparisonSerializer(many=True, help_text="Comparisons, newest first.")


class ComparisonViewSet(Listed, Created, Destroyed, InCluster, Tagged):
    """The newest comparisons of a cluster."""

    actions = {"GET": "view", "POST": "plan", "DELETE": "plan"}
    staff_only = True
    deletes_unread = True
    etag_description = "Changes with the progress and the language of the response."
    tag = "comparisons"
    resource = "comparison", "comparisons"
    operations = {"stop": "stop_comparison"}
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
        return ComparisonDetailSerializer if self.action == "retrieve" else ComparisonSerializer

    def retrieve(self, request: Request, **place: Any) -> Response:
        """The progress of a comparison, and its result."""
        return super().retrieve(request, **place)

    def tag_of(self, found: Comparison) -> str:
        """Return the ETag of a comparison, whose result is in the language of the request."""
        return f'"{found.pk}-{found.state}-{found.done}-{get_language()}"'

    def make(self, given: dict[str, Any]) -> Comparison:
        """Create a comparison. Read it again until it is done; the cluster does not change."""
        return services.start(cluster=self.named_cluster, author=self.user, **given)

    def remove(self, row: Comparison) -> None:
        """Delete a comparison, which is stopped first. Allowed for its author and for operators."""
        if not selectors.may_stop(self.user, row):
            raise PermissionDenied
        services.delete(comparison=row, actor=self.user)

    @action(detail=True, methods=["post"])
    def stop(self, request: Request, **_place: Any) -> Response:
        """Stop a comparison within a second. Allowed for its author and for operators."""
        del request
        row: Comparison = self.get_object()
        if not selectors.may_stop(self.user, row):
            raise PermissionDenied
        services.stop(comparison=row, actor=self.user)
        row.refresh_from_db()
        return self.answer(row)
