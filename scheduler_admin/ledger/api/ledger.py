"""The ledger, by REST: who gained from whom in a month."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from scheduler_admin.core import limits
from scheduler_admin.decisions.models import Decision
from scheduler_admin.ledger.selectors import Asked, Line, Sums, ledger, month_asked, tenant_asked
from scheduler_admin.ledger.services import month_of
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import AmountsField, WorkField, represent
from scheduler_admin.rest.parameters import QUEUE, cluster_asked


class LedgerParameters(serializers.Serializer[Any]):
    """Which part of the ledger; all that are given must match."""

    month = serializers.RegexField(
        r"^[1-9]\d{3}-(0[1-9]|1[0-2])$",
        required=False,
        help_text="Month in UTC, such as `2026-11`; the current month if not given.",
    )
    cluster = serializers.SlugField(required=False, help_text="Name of a cluster.")
    queue = serializers.RegexField(
        QUEUE,
        required=False,
        max_length=limits.QUEUE_PATH,
        help_text="The victim or the preemptor is in this queue of yours or below it.",
    )
    tenant = serializers.CharField(
        required=False,
        max_length=limits.TENANT_NAME,
        help_text="The victim or the preemptor belongs to this tenant; for users who see everything.",
    )

    def validate_month(self, text: str) -> date:
        """As its first day."""
        found = month_asked(text)
        if found is None:
            raise serializers.ValidationError(_("Enter the month as YYYY-MM."))
        return found


class LedgerSideSerializer(serializers.Serializer[Any]):
    """Namespace and queue of the victims, or of the pods that they were evicted for."""

    namespace = serializers.CharField(help_text="Name of the namespace; empty if hidden, unknown or none.")
    queue = serializers.CharField(help_text="Path of the queue; empty if hidden, unknown or none.")
    redacted = serializers.BooleanField(help_text="True if part of the data is hidden.")


@dataclass(frozen=True)
class _Entry:
    line: Line
    sums: Sums


class LedgerLineSerializer(serializers.Serializer[_Entry]):
    """Evictions of one namespace and queue for another in a month."""

    cluster = serializers.CharField(source="line.cluster", help_text="Name of the cluster.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="line.source", help_text="Scheduler or component that evicted the pods."
    )
    victim = LedgerSideSerializer(source="line.lost", help_text="Namespace and queue that lost the pods.")
    preemptor = LedgerSideSerializer(
        source="line.gained", help_text="Namespace and queue that the pods were evicted for; empty if none."
    )
    evicted_pods = serializers.IntegerField(source="sums.pods", help_text="Number of evicted pods.")
    pods_with_unknown_work = serializers.IntegerField(
        source="sums.unknown", help_text="Number of evicted pods whose lost work is unknown."
    )
    requests = AmountsField(source="sums.requests", help_text="Sum of the requests of the evicted pods, by resource.")
    lost_work = WorkField(source="sums.work", help_text="Lost work by resource, in core, byte or device seconds.")


class LedgerSerializer(serializers.Serializer[Any]):
    """A month of the ledger."""

    month = serializers.CharField(help_text="Month in UTC, such as `2026-11`.")
    results = LedgerLineSerializer(many=True, help_text="Ledger lines of the month.")


class LedgerView(ApiView):
    """Who gained from whom."""

    actions = {"GET": "view"}
    queries = {"GET": LedgerParameters}
    tag = "ledger"

    @extend_schema(operation_id="get_ledger", responses=LedgerSerializer)
    def get(self, request: Request) -> Response:
        """Evictions and lost work of a month, by victim and preemptor. Sides that you may not see are combined."""
        asked = self._asked(request)
        found = ledger(request.user, asked)
        results = [_Entry(line, sums) for line, sums in found.items()]
        return Response(represent(LedgerSerializer, {"month": f"{asked.month:%Y-%m}", "results": results}))

    def _asked(self, request: Request) -> Asked:
        given = self.asked
        cluster, tenant = cluster_asked(given, request.user), given.get("tenant", "")
        scope = tenant_asked(request.user, tenant) if tenant else None
        if tenant and scope is None:
            raise problems.WrongParameters({"tenant": [_("This tenant does not exist.")]})
        month = given.get("month") or month_of(timezone.now())
        return Asked(month=month, cluster=cluster, queue=given.get("queue", ""), tenant=scope)
