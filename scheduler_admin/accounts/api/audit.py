"""The audit log: who did what, for those who see everything."""

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.core import limits
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import PageParameters
from scheduler_admin.rest.viewsets import Listed, NewestPages, Retrieved


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """A change that is recorded in the audit log."""

    occurred_at = UtcField(source="at", help_text="Time of the change.")
    actor = serializers.CharField(source="actor_name", help_text="Name of the user or component that made the change.")
    details = serializers.DictField(
        help_text="Values before and after the change; `token` names the API token that was used."
    )

    class Meta:
        model = AuditEvent
        fields = ["id", "occurred_at", "actor", "verb", "target", "reason", "details"]
        extra_kwargs = {
            "id": {"help_text": "Number of the event."},
            "verb": {"help_text": "What was done, such as `tree.publish` or `cluster.mode`."},
            "target": {"help_text": "Name of the object that was changed."},
            "reason": {"help_text": "Reason that the actor gave; empty if none."},
        }


class AuditEventsSerializer(serializers.Serializer[Any]):
    """A page of the audit log, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = AuditEventSerializer(many=True, help_text="Audit events, newest first.")


class AuditFilters(Parameters):
    """Filters of the audit log; all that are given must hold."""

    ranges = (("since", "until"),)
    since = Parameter(UtcField(help_text="Events at or after this time."), "at__gte")
    until = Parameter(UtcField(help_text="Events before this time."), "at__lt")
    verb = Parameter(
        serializers.CharField(
            max_length=limits.AUDIT_VERB, help_text="What was done, such as `tree.publish` or `cluster.mode`."
        ),
        "verb",
    )
    actor = Parameter(
        serializers.CharField(
            max_length=limits.USER_NAME, help_text="Name of the user or component that made the change."
        ),
        "actor_name",
    )
    target = Parameter(
        serializers.CharField(max_length=limits.AUDIT_TARGET, help_text="Name of the object that was changed."),
        "target",
    )


class AuditViewSet(Listed, Retrieved):
    """All recorded changes, newest first. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": PageParameters}
    staff_only = True
    tag = "site"
    resource = "audit_event", "audit_events"
    queryset = AuditEvent.objects.all()
    serializer_class = AuditEventSerializer
    list_class = AuditEventsSerializer
    filterset_class = AuditFilters
    pagination_class = NewestPages
    newest_by = "at"

    def get_queryset(self) -> QuerySet[AuditEvent]:
        """Return all events: who does not see everything gets no further than the declaration."""
        return AuditEvent.objects.all()
