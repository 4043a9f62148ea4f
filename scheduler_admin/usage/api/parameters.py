"""Which usage a request asks for."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.core import limits
from scheduler_admin.decisions.selectors.history_filters import LONGEST
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.parameters import QUEUE, forward

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class UsageParameters(serializers.Serializer[Any]):
    """Which usage, and when."""

    queue = serializers.RegexField(QUEUE, max_length=limits.QUEUE_PATH, help_text="Path of the queue.")
    resource = serializers.CharField(
        max_length=limits.OBJECT_NAME,
        help_text="Name of the resource: cpu, memory, pods, ...; or `dominant-share`: the largest part of the cluster "
        "that is held of any resource.",
    )
    since = UtcField(
        required=False, help_text="Samples at or after this time (RFC 3339); an hour before `until` if not given."
    )
    until = UtcField(required=False, help_text="Samples before this time (RFC 3339); now if not given.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Fill in the times, and keep the answer to a size that a chart can show."""
        until: datetime = attrs.setdefault("until", timezone.now())
        since: datetime = attrs.setdefault("since", max(until, _EARLIEST) - timedelta(hours=1))
        if until - since > LONGEST:
            raise serializers.ValidationError({"since": _("Request at most %d days at a time.") % LONGEST.days})
        return forward(attrs, "since", "until")
