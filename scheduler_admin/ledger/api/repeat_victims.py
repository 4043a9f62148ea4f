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
from scheduler_admin.rest.fields import UtcField, WorkField, represent


class RepeatVictimSerializer(serializers.Serializer[Repeat]):
    """An application that was preempted three times or more in the last 24 hours."""

    namespace = serializers.CharField(help_text="Namespace of the application.")
    application = serializers.CharField(help_text="Name of the application.")
    preemptions = serializers.IntegerField(
        help_text="Number of preemption decisions in the last 24 hours.", source="times"
    )
    evicted_pods = serializers.IntegerField(source="pods", help_text="Number of evicted pods in the last 24 hours.")
    queues = serializers.ListField(child=serializers.CharField(), help_text="Paths of the queues of these pods.")
    last_evicted_at = UtcField(source="last.evicted_at", help_text="Time of the last eviction.")
    last_decision_id = serializers.IntegerField(source="last.decision_id", help_text="Number of the last decision.")
    lost_work = WorkField(
        allow_null=True,
        help_text="Lost work by resource, in core, byte or device seconds; null if not fully known.",
        source="work_lost",
    )


class LoopMemberSerializer(serializers.Serializer[dict[str, Any]]):
    """An application in a preemption loop."""

    queue = serializers.CharField(allow_null=True, help_text="Path of the queue; null if hidden.")
    namespace = serializers.CharField(allow_null=True, help_text="Namespace of the application; null if hidden.")
    application = serializers.CharField(allow_null=True, help_text="Name of the application; null if hidden.")
    preemptions = serializers.IntegerField(
        allow_null=True,
        help_text="Number of decisions that preempted it for the next member; null if hidden.",
    )
    last_decision_id = serializers.IntegerField(
        allow_null=True, help_text="Number of the last of these decisions; null if hidden."
    )


class PreemptionLoopSerializer(serializers.Serializer[Looped]):
    """Applications that preempted each other in turn, each twice or more, in the last 24 hours."""

    detected_at = UtcField(help_text="Time when the loop was detected.", source="at")
    cycle = serializers.CharField(
        source="seen.name", help_text="Names of the queues in order, ending with the first queue."
    )
    members = LoopMemberSerializer(
        many=True,
        source="seen.facts.members",
        help_text="Applications of the loop; each is preempted for pods of the next one.",
    )


class RepeatVictimsSerializer(serializers.Serializer[Any]):
    """Repeat victims and preemption loops, at most fifty of each."""

    results = RepeatVictimSerializer(
        many=True, help_text="Applications, the most often preempted first; at most fifty."
    )
    loops = PreemptionLoopSerializer(many=True, help_text="Preemption loops, newest first; at most fifty.")


class RepeatVictimsView(ApiView):
    """Repeat victims of a cluster."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(operation_id="list_repeat_victims", responses=RepeatVictimsSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Applications that were preempted three times or more in the last 24 hours, and preemption loops."""
        cluster, now = self.cluster(name), timezone.now()
        found = {"results": repeats(request.user, cluster, now), "loops": looped(request.user, cluster, now)}
        return Response(represent(RepeatVictimsSerializer, found))
