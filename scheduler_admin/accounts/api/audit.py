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
    """Who changed what, when and why."""

    at = UtcField()
    actor = serializers.CharField(source="actor_name")
    details = serializers.DictField(help_text="What was before and after, as the verb has it; `token`: by which.")

    class Meta:
        model = AuditEvent
        fields = ["id", "at", "actor", "verb", "target", "reason", "details"]


class AuditSerializer(serializers.Serializer[Any]):
    """A page of the audit log, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = AuditEventSerializer(many=True)


class AuditFilters(Parameters):
    """Filters of the audit log; all that are given must hold."""

    ranges = (("since", "until"),)
    since = Parameter(UtcField(help_text="At or after this time, RFC 3339."), "at__gte")
    until = Parameter(UtcField(help_text="Before this time, RFC 3339."), "at__lt")
    verb = Parameter(
        serializers.CharField(max_length=limits.AUDIT_VERB, help_text="What was done: tree.publish, cluster.mode."),
        "verb",
    )
    actor = Parameter(
        serializers.CharField(max_length=limits.USER_NAME, help_text="Who did it, as the log calls them."), "actor_name"
    )
    target = Parameter(
        serializers.CharField(max_length=limits.AUDIT_TARGET, help_text="To what it was done."), "target"
    )


class AuditViewSet(Listed, Retrieved):
    """What anybody changed, newest first. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": PageParameters}
    staff_only = True
    tag = "site"
    resource = "audit_event", "audit_events"
    queryset = AuditEvent.objects.all()
    serializer_class = AuditEventSerializer
    list_class = AuditSerializer
    filterset_class = AuditFilters
    pagination_class = NewestPages
    newest_by = "at"

    def get_queryset(self) -> QuerySet[AuditEvent]:
        """Return all events: who does not see everything gets no further than the declaration."""
        return AuditEvent.objects.all()
