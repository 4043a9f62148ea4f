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
from scheduler_admin.rest.fields import AmountsField, WorkField
from scheduler_admin.rest.parameters import QUEUE, cluster_asked


class LedgerParameters(serializers.Serializer[Any]):
    """Which part of the ledger; all that are given must hold."""

    month = serializers.RegexField(
        r"^[1-9]\d{3}-(0[1-9]|1[0-2])$",
        required=False,
        help_text="A month of UTC, `2026-11`; the current one if not given.",
    )
    cluster = serializers.SlugField(required=False, help_text="Name of a cluster.")
    queue = serializers.RegexField(
        QUEUE,
        required=False,
        max_length=limits.QUEUE_PATH,
        help_text="Who lost or gained is in this queue of yours, or below it.",
    )
    tenant = serializers.CharField(
        required=False,
        max_length=limits.TENANT_NAME,
        help_text="Who lost or gained is this tenant's: for those who see everything.",
    )

    def validate_month(self, text: str) -> date:
        """As its first day."""
        found = month_asked(text)
        if found is None:
            raise serializers.ValidationError(_("This is not a month."))
        return found


class SideSerializer(serializers.Serializer[Any]):
    """Who lost, or gained. Empty: not told (`redacted`), not known, or nobody."""

    namespace = serializers.CharField()
    queue = serializers.CharField()
    redacted = serializers.BooleanField(help_text="Whether more is known of it than is told.")


@dataclass(frozen=True)
class _Entry:
    line: Line
    sums: Sums


class LedgerLineSerializer(serializers.Serializer[_Entry]):
    """What one side gave up for the other in the month."""

    cluster = serializers.CharField(source="line.cluster")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="line.source"
    )
    lost = SideSerializer(source="line.lost")
    gained = SideSerializer(source="line.gained")
    pods = serializers.IntegerField(source="sums.pods", help_text="That were evicted.")
    unknown = serializers.IntegerField(source="sums.unknown", help_text="Of those, whose work lost is not known.")
    requests = AmountsField(source="sums.requests", help_text="What they had requested.")
    work_lost = WorkField(source="sums.work", help_text="What was thrown away: core, byte, device seconds.")


class LedgerSerializer(serializers.Serializer[Any]):
    """A month of the ledger."""

    month = serializers.CharField()
    results = LedgerLineSerializer(many=True)


class LedgerView(ApiView):
    """Who gained from whom."""

    actions = {"GET": "view"}
    queries = {"GET": LedgerParameters}
    tag = "ledger"

    @extend_schema(operation_id="get_ledger", responses=LedgerSerializer)
    def get(self, request: Request) -> Response:
        """A month, by who lost and who gained. What you may not tell apart is one line."""
        asked = self._asked(request)
        found = ledger(request.user, asked)
        results = [_Entry(line, sums) for line, sums in found.items()]
        return Response(LedgerSerializer({"month": f"{asked.month:%Y-%m}", "results": results}).data)

    def _asked(self, request: Request) -> Asked:
        given = self.asked
        cluster, tenant = cluster_asked(given, request.user), given.get("tenant", "")
        scope = tenant_asked(request.user, tenant) if tenant else None
        if tenant and scope is None:
            raise problems.WrongParameters({"tenant": [_("There is no such tenant.")]})
        month = given.get("month") or month_of(timezone.now())
        return Asked(month=month, cluster=cluster, queue=given.get("queue", ""), tenant=scope)
