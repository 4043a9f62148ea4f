"""What query parameters of several routes share. A value that cannot be right is an error, and never ignored."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core import limits
from scheduler_admin.queues.models import Queue
from scheduler_admin.rest import problems
from scheduler_admin.usage.selectors import oldest

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
NAMESPACE = rf"^{_LABEL}$"
NODE = rf"^{_LABEL}(\.{_LABEL})*$"
QUEUE = r"^[^\s.]+(\.[^\s.]+)*$"


class ReasonParameters(serializers.Serializer[Any]):
    """Why something is changed, for the audit log."""

    reason = serializers.CharField(max_length=limits.REASON, help_text="Reason for the change, kept in the audit log.")


def forward(attrs: dict[str, Any], since: str, until: str) -> dict[str, Any]:
    """Parameters with a time range that holds anything. Raises ValidationError for another."""
    if since in attrs and until in attrs and attrs[since] >= attrs[until]:
        raise serializers.ValidationError({until: _("This must be later than %s.") % since})
    return attrs


def cluster_asked(asked: Mapping[str, Any], user: Who) -> str:
    """The cluster that a query names, empty for none. Raises WrongParameters for one that the user does not see."""
    name: str = asked.get("cluster", "")
    if name and not Cluster.objects.restrict(user, "view").filter(name=name).exists():
        raise problems.WrongParameters({"cluster": [_("This cluster does not exist.")]})
    return name


def queue_known(path: str, *, cluster_id: int, user: Who) -> bool:
    """Whether the user can see such a queue in any revision of the cluster's tree, or in what was recorded of it."""
    queues = Queue.objects.restrict(user, "view").filter(revision__hierarchy__clusters=cluster_id, path=path)
    return queues.exists() or oldest(user, cluster_id, path) is not None
