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
from scheduler_admin.rest.fields import UtcField


class KueueQuotaLineSerializer(serializers.Serializer[Any]):
    """One resource in one flavor; amounts as people type them."""

    flavor = serializers.CharField()
    resource = serializers.CharField()
    nominal = serializers.CharField(help_text="Its own.")
    total = serializers.CharField(help_text="A cohort's with what its members lend it; a queue's own.")
    borrowing_limit = serializers.CharField(allow_null=True)
    lending_limit = serializers.CharField(allow_null=True)
    used = serializers.CharField(help_text="Of a cohort: by its members, beyond what they keep to themselves.")
    borrowed = serializers.CharField(help_text="What it uses beyond its total.")
    lent = serializers.CharField(help_text="What it does not use and could not have now, as others hold it.")
    available = serializers.CharField(
        help_text="What it could use more now. For tenants: of its own quota, unless the cohort at the top is theirs."
    )


class KueueShareSerializer(serializers.Serializer[Any]):
    """A share under fair sharing, with what it comes from."""

    value = serializers.CharField(help_text="As Kueue shows it: `187.5`, `+Inf`.")
    weight = serializers.CharField()
    resource = serializers.CharField(allow_null=True, help_text="What it borrows most of; null: nothing counts.")
    borrowed = serializers.CharField(allow_null=True)
    lendable = serializers.CharField(allow_null=True, help_text="What its cohort could lend of that at most.")
    text = serializers.CharField(help_text="All of it in a sentence.")


class KueueQueueSerializer(serializers.Serializer[Any]):
    """A ClusterQueue or a Cohort."""

    kind = serializers.ChoiceField(("ClusterQueue", "Cohort"))
    name = serializers.CharField()
    cohort = serializers.CharField(allow_null=True, help_text="That it is in; null: none.")
    queue = serializers.CharField(allow_null=True, help_text="Its queue in the tree in force; null: it has none.")
    active = serializers.BooleanField(help_text="Whether Kueue admits anything of it.")
    quota = KueueQuotaLineSerializer(many=True)
    share = KueueShareSerializer(allow_null=True, help_text="Null at the top, which borrows from nobody.")


class KueueQuotaSerializer(serializers.Serializer[Any]):
    """All that there is of it."""

    cluster = serializers.CharField()
    changed_at = UtcField(allow_null=True, help_text="Since when it stands so; null: there is no Kueue.")
    fair_sharing = serializers.BooleanField(
        allow_null=True, help_text="Whether Kueue shares fairly; null: its settings could not be read."
    )
    results = KueueQueueSerializer(many=True, help_text="Cohorts before what is in them. For tenants: their own.")


class QuotaView(QueueView):
    """The quota of a cluster where Kueue runs."""

    actions = {"GET": "view"}
    tag = "queues"

    @extend_schema(operation_id="get_quota", responses=KueueQuotaSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Each ClusterQueue and Cohort by flavor and resource: quota, limits, used, borrowed, lent, and its share."""
        cluster = self.cluster(name)
        paths = {queue.path for queue in visible(request.user, self.current(cluster))}
        found = quota_of(request.user, cluster, paths)
        body = {
            "cluster": cluster.name,
            "changed_at": found.changed_at if found else None,
            "fair_sharing": found.fair if found else None,
            "results": [_entry(one) for one in found.entries] if found else [],
        }
        return Response(KueueQuotaSerializer(body).data)


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
        "text": text(share_sentence(share)),
    }
