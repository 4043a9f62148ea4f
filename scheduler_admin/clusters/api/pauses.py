"""Pauses: nothing is evicted anywhere, in a cluster, or for and from a queue."""

from typing import Any

from rest_framework import serializers

from scheduler_admin.clusters.api.places import PlacedSerializer, PlacedViewSet
from scheduler_admin.clusters.models import Pause
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.rest.fields import UtcField


class PauseSerializer(PlacedSerializer):
    """A pause of evictions: everywhere, in a cluster, or for and from a queue."""

    until = UtcField(
        required=False, allow_null=True, default=None, help_text="Time when the pause ends; null until someone ends it."
    )


class PausesSerializer(serializers.Serializer[Any]):
    """All pauses, oldest first."""

    results = PauseSerializer(many=True, help_text="Pauses, oldest first.")


class PauseViewSet(PlacedViewSet):
    """Pauses of all clusters, of single clusters and of queues."""

    actions = {"GET": "view", "POST": "operate", "PATCH": "operate", "DELETE": "operate"}
    resource = "pause", "pauses"
    queryset = Pause.objects.select_related("cluster")
    serializer_class = body_class = PauseSerializer
    list_class = PausesSerializer

    def make(self, given: dict[str, Any]) -> Pause:
        """Pause evictions. An existing pause stays unchanged."""
        cluster = self.place(given)
        pauses.pause(cluster=cluster, actor=self.user, **given)
        return Pause.objects.of(cluster, given["queue"]).get()

    def change(self, row: Pause, given: dict[str, Any]) -> Pause:
        """Change until when the pause lasts, or its reason; the cluster and the queue do not change."""
        return pauses.change_pause(pause=row, values=given, actor=self.user, reason=self.asked["reason"])

    def remove(self, row: Pause) -> None:
        """End the pause; other pauses remain active."""
        pauses.resume(cluster=row.cluster, queue=row.queue, actor=self.user, reason=self.asked["reason"])
