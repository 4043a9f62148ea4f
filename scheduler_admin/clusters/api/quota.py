"""Kueue's quota by REST: what each of its queues and cohorts has, uses, borrows and lends."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.explain import share_sentence
from engine.model.quantities import format_amount
from engine.model.quota import FlavorStatus, ShareParts
from scheduler_admin.clusters.status.quota import Entry, quota_of
from scheduler_admin.core.translation import text
from scheduler_admin.queues.api.queues import QueueView
from scheduler_admin.queues.selectors.queues import visible
from scheduler_admin.rest.fields import UtcField, represent


class KueueQuotaLineSerializer(serializers.Serializer[Any]):
    """The quota of one resource in one flavor."""

    flavor = serializers.CharField(help_text="Name of the resource flavor.")
    resource = serializers.CharField(help_text="Name of the resource.")
    nominal = serializers.CharField(help_text="Nominal quota of the object itself.")
    total = serializers.CharField(help_text="Nominal quota, for a cohort with the quota that its members lend.")
    borrowing_limit = serializers.CharField(
        allow_null=True, help_text="Highest amount that it can borrow; null if unlimited."
    )
    lending_limit = serializers.CharField(
        allow_null=True, help_text="Highest amount that it can lend; null if unlimited."
    )
    used = serializers.CharField(
        help_text="Amount in use; for a cohort, what its members use beyond quota reserved for themselves."
    )
    borrowed = serializers.CharField(help_text="Amount in use beyond `total`.")
    lent = serializers.CharField(help_text="Unused amount that is not available because other queues use it.")
    available = serializers.CharField(
        help_text="Amount that can still be used now; tenants may see only their own quota."
    )


class KueueShareSerializer(serializers.Serializer[Any]):
    """A share under fair sharing with its calculation."""

    value = serializers.CharField(help_text="Share as Kueue shows it, such as `187.5` or `+Inf`.")
    weight = serializers.CharField(help_text="Weight under fair sharing.")
    resource = serializers.CharField(
        allow_null=True, help_text="Resource that is borrowed most; null if nothing is borrowed."
    )
    borrowed = serializers.CharField(
        allow_null=True, help_text="Borrowed amount of this resource; null if nothing is borrowed."
    )
    lendable = serializers.CharField(
        allow_null=True,
        help_text="Highest amount of this resource that the cohort can lend; null if nothing is borrowed.",
    )
    sentence = serializers.CharField(help_text="The share with its calculation in one sentence.")


class KueueQueueSerializer(serializers.Serializer[Any]):
    """A ClusterQueue or a Cohort."""

    kind = serializers.ChoiceField(("ClusterQueue", "Cohort"), help_text="Kind of the Kueue object.")
    name = serializers.CharField(help_text="Name of the Kueue object.")
    cohort = serializers.CharField(allow_null=True, help_text="Name of the cohort that it belongs to; null if none.")
    queue = serializers.CharField(
        allow_null=True, help_text="Path of its queue in the published tree; null if it has none."
    )
    active = serializers.BooleanField(help_text="True if Kueue admits workloads to it.")
    quota = KueueQuotaLineSerializer(many=True, help_text="Quota by flavor and resource.")
    share = KueueShareSerializer(
        allow_null=True, help_text="Share under fair sharing; null for a top-level object, which cannot borrow."
    )


class KueueQuotaSerializer(serializers.Serializer[Any]):
    """The quota of all Kueue queues and cohorts of a cluster."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    changed_at = UtcField(
        allow_null=True, help_text="Time of the last change; null if Kueue does not run in the cluster."
    )
    fair_sharing = serializers.BooleanField(
        allow_null=True, help_text="True if Kueue uses fair sharing; null if its configuration cannot be read."
    )
    fair_sharing_strategies = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Preemption strategies of fair sharing, in the order in which Kueue tries them; null if it uses no "
        "fair sharing, or if its configuration cannot be read.",
    )
    results = KueueQueueSerializer(
        many=True, help_text="Cohorts and ClusterQueues, cohorts first; tenants see only their own."
    )


class QuotaView(QueueView):
    """The quota of a cluster where Kueue runs."""

    actions = {"GET": "view"}
    tag = "queues"

    @extend_schema(operation_id="get_quota", responses=KueueQuotaSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The quota of each ClusterQueue and cohort by flavor and resource, with its use and its share."""
        cluster = self.cluster(name)
        paths = visible(request.user, self.current(cluster)).paths
        found = quota_of(request.user, cluster, paths)
        body = {
            "cluster": cluster.name,
            "changed_at": found.changed_at if found else None,
            "fair_sharing": found.fair if found else None,
            "fair_sharing_strategies": (list(found.strategies) or None) if found else None,
            "results": [_entry(one) for one in found.entries] if found else [],
        }
        return Response(represent(KueueQuotaSerializer, body))


def _entry(entry: Entry) -> dict[str, Any]:
    one = entry.standing
    return {
        "kind": "Cohort" if one.cohort else "ClusterQueue",
        "name": one.name,
        "cohort": one.above or None,
        "queue": entry.path,
        "active": one.active,
        "quota": [_line(line) for line in one.lines],
        "share": _share(one.share) if one.share else None,
    }


_AMOUNTS = ("nominal", "total", "borrowing_limit", "lending_limit", "used", "borrowed", "lent", "available")


def _line(line: FlavorStatus) -> dict[str, Any]:
    amounts = {name: getattr(line, name) for name in _AMOUNTS}
    said = {name: None if one is None else format_amount(line.resource, one) for name, one in amounts.items()}
    return {"flavor": line.flavor, "resource": line.resource, **said}


def _share(share: ShareParts) -> dict[str, Any]:
    counts = bool(share.resource)
    return {
        "value": share.text,
        "weight": share.weight,
        "resource": share.resource or None,
        "borrowed": format_amount(share.resource, share.borrowed) if counts else None,
        "lendable": format_amount(share.resource, share.lendable) if counts else None,
        "sentence": text(share_sentence(share)),
    }
