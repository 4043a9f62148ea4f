"""What pauses and windows share: they hold for all clusters, for one, or for a queue."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import AsRead, Changed, Created, Destroyed, Listed


class PlacedSerializer(serializers.Serializer[Any]):
    """Where it holds, why, since when and by whom."""

    id = serializers.IntegerField(source="pk", read_only=True, help_text="Number of the pause or window.")
    cluster = serializers.CharField(
        source="cluster.name", allow_null=True, help_text="Name of the cluster; null for all clusters."
    )
    queue = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.QUEUE_PATH,
        help_text="Path of the queue, with all queues below; empty for all queues.",
    )
    reason = serializers.CharField(max_length=limits.SHOWN_REASON, help_text="Reason for the pause or window.")
    created_at = UtcField(read_only=True, source="at", help_text="Time when the pause or window was created.")
    created_by = serializers.CharField(
        read_only=True, source="by", help_text="Name of the user who created the pause or window."
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return what may be sent: to change a row, all but where it holds."""
        fields = super().get_fields()
        return {name: each for name, each in fields.items() if not (self.partial and name in {"cluster", "queue"})}


class PlacedViewSet(AsRead, Listed, Created, Changed, Destroyed):
    """Rows that hold somewhere, for those who see everything."""

    staff_only = True
    tag = "safeguards"
    queries = {"PATCH": ReasonParameters, "DELETE": ReasonParameters}
    deletes_unread = True

    def place(self, given: dict[str, Any]) -> Cluster | None:
        """Return the cluster that a body names, and take it out of the body. Raises ValidationError."""
        name = given.pop("cluster")["name"]
        if name is None:
            return None
        found = Cluster.objects.restrict(self.request.user, "view").filter(name=name).first()
        if found is None:
            raise ValidationError({"cluster": _("This cluster does not exist.")})
        return found
