"""Who is hit again and again, and in which loops, by REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.ledger.loops import Looped, looped
from scheduler_admin.ledger.repeat_victims import Repeat, repeats
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField, WorkField


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


class TurnSerializer(serializers.Serializer[dict[str, Any]]):
    """A member of a loop; what is not told of others is null."""

    queue = serializers.CharField(allow_null=True)
    namespace = serializers.CharField(allow_null=True)
    application = serializers.CharField(allow_null=True)
    times = serializers.IntegerField(allow_null=True, help_text="How often its pods went for an ask of the next.")
    decision = serializers.IntegerField(allow_null=True, help_text="The last time.")


class LoopedSerializer(serializers.Serializer[Looped]):
    """Applications whose pods went for each other's asks in turn, each twice or more, in the last 24 hours."""

    at = UtcField(help_text="Since when it is known.")
    loop = serializers.CharField(source="seen.name", help_text="Its queues, round to where it began.")
    members = TurnSerializer(many=True, source="seen.facts.members")


class RepeatsSerializer(serializers.Serializer[Any]):
    """Fifty of each at most."""

    results = RepeatSerializer(many=True, help_text="The most often hit first.")
    loops = LoopedSerializer(many=True, help_text="The newest first.")


class RepeatsView(ApiView):
    """Repeat victims of a cluster."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(operation_id="list_repeat_victims", responses=RepeatsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The applications that were preempted three times or more in the last 24 hours, and loops; as you may see."""
        cluster, now = self.cluster(name), timezone.now()
        found = {"results": repeats(request.user, cluster, now), "loops": looped(request.user, cluster, now)}
        return Response(RepeatsSerializer(found).data)
