"""What a person finds by typing a part of a name.

Clusters, queues, nodes, pods, applications and decisions; those who see everything find tenants and users, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.accounts.selectors import UserFilters
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import every
from scheduler_admin.core.numbers import read_number
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.pods import PodEvent, Search, events
from scheduler_admin.nodes.models import NodePods
from scheduler_admin.queues.models import Queue

MOST_TEXT = 200
"""Characters that are looked for; no name is longer than its parts together."""
_EACH = 6
"""So many of a kind are shown."""
_EVENTS = 30


@dataclass(frozen=True)
class Hit:
    """Something that was found: its name, where it is, and its page."""

    name: str
    place: str
    url: str


@dataclass(frozen=True)
class Group:
    """Hits of one kind."""

    title: str | Promise
    hits: list[Hit]


def find(user: Who, text: str) -> list[Group]:
    """What the user may see and whose name contains a text, by kind; nothing for an empty text."""
    text = text.strip()[:MOST_TEXT]
    if not text:
        return []
    clusters = every(user)
    pods = events(user, Search(text=text), size=_EVENTS).events
    groups = [
        Group(gettext_lazy("Decisions"), list(_decisions(user, text))),
        Group(gettext_lazy("Clusters"), list(_clusters(user, clusters, text))),
        Group(gettext_lazy("Queues"), list(_queues(user, clusters, text))),
        Group(gettext_lazy("Nodes"), list(_nodes(user, clusters, text))),
        Group(gettext_lazy("Pods"), _once(map(_pod, pods))),
        Group(gettext_lazy("Applications"), _once(_applications(pods, text))),
        Group(gettext_lazy("Tenants"), list(_tenants(user, text))),
        Group(gettext_lazy("Users"), list(_users(user, text))),
    ]
    return [group for group in groups if group.hits]


def _decisions(user: Who, text: str) -> Iterator[Hit]:
    number = read_number(text.removeprefix("#"))
    rows = Decision.objects.restrict(user, "view").filter(pk=number).select_related("cluster")
    for row in rows if number else ():
        url = reverse("web:decision", args=[row.cluster.name, row.pk])
        yield Hit(_("Decision %(number)s") % {"number": row.pk}, row.cluster.name, url)


def _clusters(user: Who, clusters: Iterable[Cluster], text: str) -> Iterator[Hit]:
    if scope_of(user, "view").everything:
        found = [one.name for one in clusters if text.lower() in one.name.lower()]
        yield from (Hit(name, "", reverse("web:queues", args=[name])) for name in found[:_EACH])


def _queues(user: Who, clusters: Iterable[Cluster], text: str) -> Iterator[Hit]:
    using: dict[int, list[str]] = {}
    for one in clusters:
        if one.hierarchy and one.hierarchy.current_id:
            using.setdefault(one.hierarchy.current_id, []).append(one.name)
    rows = Queue.objects.restrict(user, "view").filter(revision__in=using, path__icontains=text).order_by("path")
    paths = list(rows.values_list("path", "revision")[:_EACH])
    # The queue that is named so comes before all that are below it.
    for path, revision in sorted(paths, key=lambda each: text.lower() not in each[0].rpartition(".")[2].lower()):
        for name in using[revision][:_EACH]:
            yield Hit(path, name, reverse("web:queue", args=[name, path]))


def _nodes(user: Who, clusters: Iterable[Cluster], text: str) -> Iterator[Hit]:
    if not scope_of(user, "view").everything:
        return
    names = {one.pk: one.name for one in clusters}
    rows = NodePods.objects.restrict(user, "view").nodes().filter(cluster__in=names, name__icontains=text)
    for node, cluster in rows.order_by("name").values_list("name", "cluster")[:_EACH]:
        yield Hit(node, names[cluster], reverse("web:node", args=[names[cluster], node]))


def _tenants(user: Who, text: str) -> Iterator[Hit]:
    if scope_of(user, "view").everything:
        for one in Tenant.objects.filter(name__icontains=text).order_by("name")[:_EACH]:
            yield Hit(one.name, "", reverse("web:tenant", args=[one.pk]))


def _users(user: Who, text: str) -> Iterator[Hit]:
    if scope_of(user, "view").everything:
        for one in UserFilters(text=text).rows().prefetch_related(None)[:_EACH]:
            yield Hit(one.username, one.site_role_label, reverse("web:user", args=[one.pk]))


def _applications(pods: Iterable[PodEvent], text: str) -> Iterator[Hit]:
    for one in pods:
        if text.lower() in one.application.lower():
            query = urlencode({"namespace": one.namespace, "application": one.application})
            url = f"{reverse('web:application', args=[_cluster(one)])}?{query}"
            yield Hit(one.application, f"{one.namespace} · {_cluster(one)}", url)


def _pod(one: PodEvent) -> Hit:
    url = reverse("web:pod", args=[_cluster(one), one.namespace, one.name])
    return Hit(one.name, f"{one.namespace} · {_cluster(one)}", url)


def _cluster(one: PodEvent) -> str:
    return one.cluster_name


def _once(hits: Iterable[Hit]) -> list[Hit]:
    return list({hit.url: hit for hit in hits}.values())[:_EACH]
