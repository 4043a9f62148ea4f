"""Comparisons: begun, followed, read, stopped."""

from typing import Any

from django.core.exceptions import PermissionDenied
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.policies import known_dialects
from scheduler_admin.accounts.models import User
from scheduler_admin.comparisons import selectors, services
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.sides import Chosen
from scheduler_admin.core import limits
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.bodies import REFUSED, read_body
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.openapi.parts import CLUSTER, PROBLEM


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


class _ComparisonsView(ApiView):
    """What all share: for those who see everything."""

    staff_only = True

    def planner(self) -> User:
        """Who asks, with a token that is for plans. Raises InsufficientScope."""
        self.demand("plan")
        assert isinstance(self.request.user, User)
        return self.request.user


class ComparisonsView(_ComparisonsView):
    """All of a cluster."""

    actions = {"GET": "view", "POST": "plan"}

    @extend_schema(
        operation_id="list_comparisons", tags=["comparisons"], parameters=[CLUSTER],
        responses={200: ComparisonsSerializer, **PROBLEM},
    )  # fmt: skip
    def get(self, request: Request, name: str) -> Response:
        """The newest."""
        rows = selectors.comparisons_of(request.user, self.cluster(name))
        return Response(ComparisonsSerializer({"results": rows}).data)

    @extend_schema(
        operation_id="begin_comparison", tags=["comparisons"], parameters=[CLUSTER],
        request=NewComparisonSerializer,
        responses={201: ComparisonSerializer, **PROBLEM, **REFUSED},
    )  # fmt: skip
    def post(self, request: Request, name: str) -> Response:
        """It waits for its worker; read it again until it is done. Nothing happens to the cluster."""
        cluster, actor = self.cluster(name), self.planner()
        given = read_body(NewComparisonSerializer(data=request.data), request.data)
        made = services.start(cluster=cluster, author=actor, **given)
        return Response(ComparisonSerializer(made).data, status=201)


class ComparisonView(_ComparisonsView):
    """One comparison."""

    actions = {"GET": "view"}

    @extend_schema(
        operation_id="read_comparison", tags=["comparisons"], parameters=[CLUSTER],
        responses={200: FoundSerializer, **PROBLEM},
    )  # fmt: skip
    def get(self, request: Request, name: str, pk: int) -> Response:
        """How far it is, and what it found."""
        found = selectors.find(request.user, self.cluster(name), pk)
        return Response(FoundSerializer(found).data, headers={"ETag": f'"{found.pk}-{found.state}-{found.done}"'})


class ComparisonStopView(_ComparisonsView):
    """The end of one."""

    actions = {"POST": "plan"}

    @extend_schema(
        operation_id="stop_comparison", tags=["comparisons"], parameters=[CLUSTER],
        request=None,
        responses={200: ComparisonSerializer, **PROBLEM, **REFUSED},
    )  # fmt: skip
    def post(self, request: Request, name: str, pk: int) -> Response:
        """Its worker hears within a second; one that has ended stays as it is. For who began it, and operators."""
        cluster, actor = self.cluster(name), self.planner()
        found = selectors.find(request.user, cluster, pk)
        if not selectors.may_stop(actor, found):
            raise PermissionDenied
        services.stop(comparison=found, actor=actor)
        found.refresh_from_db()
        return Response(ComparisonSerializer(found).data)
