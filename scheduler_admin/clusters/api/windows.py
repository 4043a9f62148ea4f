"""Windows: hours in which nothing is evicted, or outside of which nothing is."""

from typing import Any

from rest_framework import serializers

from scheduler_admin.clusters.api.places import PlacedSerializer, PlacedViewSet
from scheduler_admin.clusters.models import Window
from scheduler_admin.clusters.safeguards.hours import WEEKDAYS
from scheduler_admin.clusters.safeguards.limits import add_window, change_window, remove_window
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import ClockField


class WindowSerializer(PlacedSerializer):
    """An eviction window: hours in which evictions are denied, or outside of which they are."""

    kind = serializers.ChoiceField(
        Window.Kind.choices, help_text="Whether evictions are denied inside the window or allowed only inside it."
    )
    weekdays = serializers.ListField(
        child=serializers.ChoiceField(WEEKDAYS), help_text="Weekdays on which the window starts."
    )
    start_time = ClockField(source="begins", help_text="Start time of the day, in the time zone of the window.")
    end_time = ClockField(
        help_text="End time; if not later than the start, the window ends the next day.", source="ends"
    )
    time_zone = serializers.CharField(
        required=False,
        default="UTC",
        max_length=limits.TIME_ZONE,
        help_text="IANA time zone, such as `Europe/Berlin`.",
        source="zone",
    )
    first_day = serializers.DateField(
        required=False,
        allow_null=True,
        default=None,
        help_text="First day on which the window applies; null for no limit.",
    )
    last_day = serializers.DateField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Last day on which the window applies; null for no limit.",
    )


class WindowsSerializer(serializers.Serializer[Any]):
    """All eviction windows, oldest first."""

    results = WindowSerializer(many=True, help_text="Windows, oldest first.")


class WindowViewSet(PlacedViewSet):
    """Eviction windows of all clusters, of single clusters and of queues."""

    actions = {"GET": "view", "POST": "configure", "PATCH": "configure", "DELETE": "configure"}
    resource = "window", "windows"
    queryset = Window.objects.select_related("cluster")
    serializer_class = body_class = WindowSerializer
    list_class = WindowsSerializer

    def make(self, given: dict[str, Any]) -> Window:
        """Create an eviction window."""
        return add_window(cluster=self.place(given), actor=self.user, **given)

    def change(self, row: Window, given: dict[str, Any]) -> Window:
        """Change the hours or the reason; the cluster and the queue do not change."""
        return change_window(window=row, values=given, actor=self.user, reason=self.asked["reason"])

    def remove(self, row: Window) -> None:
        """Delete the eviction window."""
        remove_window(window=row, actor=self.user, reason=self.asked["reason"])
