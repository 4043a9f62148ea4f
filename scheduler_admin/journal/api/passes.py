"""Passes: what each run of the engine over a cluster came to."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.model.decision import Outcome
from scheduler_admin.decisions.models import Decision
from scheduler_admin.journal.models import Pass
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.pagination import NewestFirst, PageParameters, next_link
from scheduler_admin.rest.parameters import forward
from scheduler_admin.rest.schema import CLUSTER, PROBLEM


class PassesParameters(PageParameters):
    """Which passes."""

    since = UtcField(required=False, help_text="At or after this time, RFC 3339.")
    until = UtcField(required=False, help_text="Before this time, RFC 3339.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A time range that holds anything."""
        return forward(attrs, "since", "until")


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


class PassesView(ApiView):
    """The passes of a cluster."""

    parameters = PassesParameters

    @extend_schema(
        operation_id="list_passes",
        tags=["clusters"],
        parameters=[CLUSTER, PassesParameters],
        responses={200: PassesSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """Newest first, for those who see everything. Follow `next`."""
        cluster = self.cluster(name)
        if not self.scope.everything:
            raise Http404
        rows = Pass.objects.restrict(request.user, "view").filter(cluster=cluster).select_related("revision")
        if "since" in self.asked:
            rows = rows.filter(at__gte=self.asked["since"])
        if "until" in self.asked:
            rows = rows.filter(at__lt=self.asked["until"])
        found, place = NewestFirst(self.asked, by="at").page(rows)
        return Response(PassesSerializer({"next": next_link(request, place), "results": found}).data)


class PassView(ApiView):
    """One pass."""

    @extend_schema(
        operation_id="get_pass",
        tags=["clusters"],
        parameters=[CLUSTER],
        responses={200: PassDetailSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str, pk: int) -> Response:
        """One with its figures and its decisions."""
        cluster, user = self.cluster(name), request.user
        rows = Pass.objects.restrict(user, "view").filter(cluster=cluster).select_related("revision")
        found = get_object_or_404(rows, pk=pk)
        taken = Decision.objects.restrict(user, "view").filter(cluster=cluster, outcome=Outcome.PREEMPT.value)
        taken = taken.filter(first_seen=found.at, source=Decision.Source.ENGINE).order_by("pk")
        body = {"cluster": cluster.name, "pass": found, "decisions": taken.values_list("pk", flat=True)}
        return Response(PassDetailSerializer(body).data)
