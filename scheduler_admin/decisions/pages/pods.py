"""A tenant's own pods: which were preempted, which wait, and why."""

from collections.abc import Iterable
from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from scheduler_admin.accounts.scopes import Scope, scope_of
from scheduler_admin.accounts.selectors import site
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload, pending_workload, pending_workloads
from scheduler_admin.clusters.status.unreadable_objects import unread_pods
from scheduler_admin.decisions.presenters.pod_help import pod_help
from scheduler_admin.decisions.presenters.pod_list import grouped_rows, other_rows, pod_rows
from scheduler_admin.decisions.presenters.pods import pod_lines, pod_page
from scheduler_admin.decisions.presenters.tickets import pod_ticket
from scheduler_admin.decisions.presenters.tool_links import event_links
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors import pods as selectors
from scheduler_admin.decisions.selectors.histories import key_of
from scheduler_admin.nodes.own_pods import own_pods, present
from scheduler_admin.nodes.search import FoundPods, find_pods
from scheduler_admin.pending.pages.context import waiting_part, waiting_shell, workload_part
from scheduler_admin.pending.reasons import answers
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def pods(request: HttpRequest) -> HttpResponse:
    """The pods of the user's tenants that a decision is about, newest first; a search finds their other pods, too."""
    search = selectors.Search.of(request.GET.dict())
    rows = Cluster.objects.restrict(request.user, "view").select_related("status", "hierarchy")
    seen = list(rows.defer(*clusters.status_heads("status", "odd", "pending_workloads")))
    given = {"q": search.text, "show": search.kind, "namespace": search.namespace}
    address = urlencode({name: value for name, value in given.items() if value})

    def build() -> Context:
        found = own_pods(request.user, search, request.GET.get("before", ""))
        unread = list(unread_pods(scope, seen))
        workloads = [] if request.GET.get("before") else pending_of(scope, seen, search)
        rows = pod_rows(Redaction.of(scope), found.pods)
        others = FoundPods([], more=False)
        if not request.GET.get("before"):
            others = find_pods(request.user, search, {key_of(row.event) for row in rows})
        return {
            "unread": unread,
            "workloads": workloads,
            "everywhere": True,
            "rows": rows,
            "groups": grouped_rows(rows),
            "older": found.older,
            "others": other_rows(others.pods),
            "more_others": others.more,
        }

    scope = scope_of(request.user, "view")
    shell: Context = {
        "cluster": seen[0] if len(seen) == 1 else None,  # the only one: its pages stay in reach
        "search": search,
        "address": address,
        "namespaces": sorted(scope.namespaces or ()),
        "kinds": selectors.KINDS,
    }
    return answer(request, "decisions/pods.html", build, *seen, **shell)


def pending_of(scope: Scope, seen: Iterable[Cluster], search: selectors.Search) -> list[PendingWorkload]:
    """Workloads that wait for quota, of which search finds the name, the owner or the namespace as it finds pods'."""
    if search.kind not in ("", "pending"):
        return []
    text = search.text.lower()
    return [
        one
        for one in pending_workloads(scope, seen)
        if search.namespace in ("", one.namespace)
        and (one.namespace.lower() == text or any(name.lower().startswith(text) for name in (one.name, one.owner)))
    ]


@require_safe
@login_required
def pod(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """Why one pod was preempted, or why it waits: the newest decision about it, or the one that is asked for."""
    cluster = clusters.get(request.user, name)
    redaction = Redaction.of(scope_of(request.user, "view"))
    events, event = _wanted(request, cluster, namespace, pod)

    def build() -> Context:
        fresh = clusters.freshness(clusters.status_of(cluster), timezone.now())
        others = pod_lines(redaction, (one for one in events if one is not event))
        why = pod_page(redaction, event)
        ticket = pod_ticket(why)
        settings, own = site(), present(request.user, [event])[0] if event is events[0] else None
        return {
            "why": why,
            "others": others,
            "fresh": fresh,
            "ticket": ticket,
            "help": pod_help(own, settings, ticket) if own else None,
            "answers": explained,
            "links": event_links(settings, event, own.now if own and not own.again else None),
        }

    explained = event.victim is None and answers(event.decision)
    shell: Context = {"cluster": cluster, "namespace": namespace, "pod_name": pod}
    waits = waiting_shell(request, cluster, event.decision, helps=True) if event.victim is None else {}
    if waits.get("waiting"):
        waits["waiting"] = replace(waits["waiting"], wait=())  # the page begins with that
    return answer(request, "decisions/pod.html", build, cluster, **shell, **waits)


@require_safe
@login_required
def workload(request: HttpRequest, name: str, namespace: str, workload: str) -> HttpResponse:
    """Why one of Kueue's workloads waits for quota, by Kueue's own rules."""
    cluster = clusters.get(request.user, name)
    scope = scope_of(request.user, "view")
    one = pending_workload(scope, cluster, namespace, workload)
    if one is None and not request.headers.get("HX-Request"):  # a page that is open learns that it waits no more
        raise Http404

    def build() -> Context:
        return {"workload": one, "waiting": workload_part(scope, cluster, one) if one else None}

    return answer(
        request, "decisions/workload.html", build, cluster, cluster=cluster, namespace=namespace, workload_name=workload
    )


def _wanted(
    request: HttpRequest, cluster: Cluster, namespace: str, pod: str
) -> tuple[list[selectors.PodEvent], selectors.PodEvent]:
    """All that was decided about a pod, and what is asked for. Raises Http404."""
    events = selectors.of_pod(request.user, cluster, namespace, pod)
    wanted = request.GET.get("decision", "")
    event = next((one for one in events if not wanted or str(one.decision.pk) == wanted), None)
    if event is None:
        raise Http404
    return events, event


@require_safe
@login_required
def waiting(request: HttpRequest, name: str, namespace: str, pod: str) -> HttpResponse:
    """What an ask has to pass: the part of its page that comes after the rest."""
    cluster = clusters.get(request.user, name)
    _events, event = _wanted(request, cluster, namespace, pod)
    if event.victim is not None or not answers(event.decision):
        raise Http404
    part = replace(waiting_part(scope_of(request.user, "view"), event.decision), wait=())
    template = "pending/_waiting_pod.html" if "helps" in request.GET else "pending/_waiting.html"
    response = render(request, template, {"waiting": part})
    response["Cache-Control"] = "private, no-store"
    return response
