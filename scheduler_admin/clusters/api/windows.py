"""Windows: hours in which nothing is evicted, or outside of which nothing is."""

from typing import Any

from rest_framework import serializers

from scheduler_admin.clusters.api.places import PlacedSerializer, PlacedViewSet
from scheduler_admin.clusters.models import Window
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.limits import add_window, remove_window
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import ClockField


class WindowSerializer(PlacedSerializer):
    """Hours in which nothing is evicted (deny), or outside of which nothing is (allow)."""

    kind = serializers.ChoiceField(Window.Kind.choices)
    weekdays = serializers.ListField(child=serializers.ChoiceField(WEEKDAYS), help_text="On which it begins.")
    begins = ClockField()
    ends = ClockField(help_text="Not later than it begins: on the next day.")
    zone = serializers.CharField(
        required=False, default="UTC", max_length=limits.TIME_ZONE, help_text="IANA: Europe/Berlin."
    )
    first_day = serializers.DateField(required=False, allow_null=True, default=None)
    last_day = serializers.DateField(required=False, allow_null=True, default=None)


class WindowsSerializer(serializers.Serializer[Any]):
    """All windows, the oldest first."""

    results = WindowSerializer(many=True)


class WindowViewSet(PlacedViewSet):
    """Windows of all clusters, of single ones, of queues."""

    actions = {"GET": "view", "POST": "configure", "DELETE": "configure"}
    resource = "window", "windows"
    queryset = Window.objects.select_related("cluster")
    serializer_class = body_class = WindowSerializer
    list_class = WindowsSerializer

    def make(self, given: dict[str, Any]) -> Window:
        """Deny or allow evictions by the clock."""
        return add_window(cluster=self.place(given), actor=self.user, **given)

    def remove(self, row: Window) -> None:
        """Delete the window: it holds no longer."""
        remove_window(window=row, actor=self.user, reason=self.asked["reason"])
