"""Who is hit again and again, by REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.api.base import ApiView
from scheduler_admin.api.fields import UtcField, WorkField
from scheduler_admin.api.schema import CLUSTER, PROBLEM
from scheduler_admin.history.repeats import Repeat, repeats


class RepeatSerializer(serializers.Serializer[Repeat]):
    """An application that was preempted three times or more in the last 24 hours."""

    namespace = serializers.CharField()
    application = serializers.CharField()
    times = serializers.IntegerField(help_text="Preemptions: each one decision, however many pods it took.")
    pods = serializers.IntegerField()
    queues = serializers.ListField(child=serializers.CharField())
    last_at = UtcField(source="last.evicted_at")
    last_decision = serializers.IntegerField(source="last.decision_id")
    work_lost = WorkField(allow_null=True, help_text="Core, byte, device seconds; null where not all is known.")


class RepeatsSerializer(serializers.Serializer[Any]):
    """The most often hit first, fifty at most."""

    results = RepeatSerializer(many=True)


class RepeatsView(ApiView):
    """Repeat victims of a cluster."""

    @extend_schema(
        operation_id="list_repeat_victims",
        tags=["decisions"],
        parameters=[CLUSTER],
        responses={200: RepeatsSerializer, **PROBLEM},
    )
    def get(self, request: Request, name: str) -> Response:
        """The applications that were preempted three times or more in the last 24 hours, as far as you may see them."""
        found = repeats(request.user, self.cluster(name), timezone.now())
        return Response(RepeatsSerializer({"results": found}).data)
