"""What pauses and windows share: they hold for all clusters, for one, or for a queue."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.parameters import ReasonParameters
from scheduler_admin.rest.viewsets import Created, Destroyed, Listed


class PlacedSerializer(serializers.Serializer[Any]):
    """Where it holds, why, since when and by whom."""

    id = serializers.IntegerField(source="pk", read_only=True)
    cluster = serializers.CharField(source="cluster.name", allow_null=True, help_text="Null: all clusters.")
    queue = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=limits.QUEUE_PATH,
        help_text="With all below it; empty: all queues.",
    )
    reason = serializers.CharField(max_length=limits.SHOWN_REASON)
    at = UtcField(read_only=True)
    by = serializers.CharField(read_only=True)


class PlacedViewSet(Listed, Created, Destroyed):
    """Rows that hold somewhere, for those who see everything."""

    staff_only = True
    tag = "interlocks"
    queries = {"DELETE": ReasonParameters}

    def place(self, given: dict[str, Any]) -> Cluster | None:
        """Return the cluster that a body names, and take it out of the body. Raises ValidationError."""
        name = given.pop("cluster")["name"]
        if name is None:
            return None
        found = Cluster.objects.restrict(self.request.user, "view").filter(name=name).first()
        if found is None:
            raise ValidationError({"cluster": _("There is no such cluster.")})
        return found
