"""The history of a cluster: a timeline over a table, and the same as CSV and JSON."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from engine.policies import foreign_dialects
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import Cursor
from scheduler_admin.counts.selectors import filtered
from scheduler_admin.counts.selectors.timeline import timeline
from scheduler_admin.decisions import exports
from scheduler_admin.decisions.forms import RenameFilterForm, SaveFilterForm
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.pages.history_context import history_rows, units
from scheduler_admin.decisions.pages.timeline_chart import chart
from scheduler_admin.decisions.selectors import decisions
from scheduler_admin.decisions.selectors.history_filters import OUTCOMES, STACKS, Filters
from scheduler_admin.decisions.services.saved_filters import saved_filters
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors.queues import tree_with
from scheduler_admin.queues.selectors.tree_filters import suggested
from scheduler_admin.site.live import Context, answer


def seen_whole(user: Who, name: str) -> Cluster:
    """A cluster for those who see everything: these pages name pods of all tenants. Raises Http404 for others."""
    if not scope_of(user, "view").everything:
        raise Http404
    return clusters.get(user, name)


@require_safe
@login_required
def history(request: HttpRequest, name: str) -> HttpResponse:
    """What was preempted, when, and by whom."""
    cluster = seen_whole(request.user, name)
    filters = _filters(request, cluster)
    shell: Context = {
        "cluster": cluster,
        "filters": filters,
        "set": filters.is_set,
        "sources": Decision.Source.choices,
        "endings": Decision.Ending.choices,
        "outcomes": OUTCOMES,
        "stacks": [(stack, filters.address(stack=stack)) for stack in STACKS],
        "address": filters.address(),
        # Called by what stands outside of the page's refreshes.
        "saved": partial(saved_filters, request.user, cluster, filters),
        "save_form": partial(SaveFilterForm, initial={"address": filters.address()}),
        "rename_form": RenameFilterForm,
        "queues": partial(_queues, cluster),
    }
    return answer(
        request, "decisions/history.html", lambda: _news(request, cluster, filters), cluster, decided=True, **shell
    )


def _filters(request: HttpRequest, cluster: Cluster) -> Filters:
    return Filters.of(request.GET.dict(), timezone.now(), decisions.oldest(request.user, cluster))


def _queues(cluster: Cluster) -> list[str]:
    """Those that the field suggests: who is here sees everything."""
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    return suggested(tree_with(revision, clusters.present(cluster)).walk()) if revision else []


def _may_break(row: Decision) -> bool:
    """Whether a law may not hold of it: of those that are refused, and those that follow another scheduler's rules."""
    return row.ending == Decision.Ending.REJECTED or row.dialect in foreign_dialects()


def _news(request: HttpRequest, cluster: Cluster, filters: Filters) -> Context:
    found = filters.query.rows(request.user, cluster)
    before, after = (Cursor.of(request.GET.get(name, "")) for name in ("before", "after"))
    page = decisions.page(found, before, after)
    rows = history_rows(page, decisions.audits(row.pk for row in page.rows if _may_break(row)))
    revisions = Revision.objects.restrict(request.user, "view").filter(
        hierarchy=cluster.hierarchy, published_at__gte=filters.start
    )
    status = clusters.status_of(cluster)
    counts = filtered.count(request.user, cluster, filters, status.pass_at if status else None)
    over_time = timeline(counts, filters)
    return {
        "page_of": page,
        "rows": rows,
        "columns": units(rows),
        "counts": counts,
        "timeline": over_time,
        "chart": chart(over_time, revisions.order_by("-number")[:3], filters.stack, running=filters.end is None),
        "fresh": clusters.freshness(status, timezone.now()),
    }


@require_safe
@login_required
def as_csv(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """The filtered history as CSV."""
    return _export(request, name, exports.as_csv, "text/csv; charset=utf-8", "csv")


@require_safe
@login_required
def as_json(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """The filtered history as JSON."""
    return _export(request, name, exports.as_json, "application/json", "json")


def _export(
    request: HttpRequest,
    name: str,
    write: Callable[[Iterable[exports.Row]], Iterator[str]],
    content_type: str,
    ending: str,
) -> StreamingHttpResponse:
    cluster = seen_whole(request.user, name)
    filters = _filters(request, cluster)
    rows = decisions.each(filters.query.rows(request.user, cluster))
    response = StreamingHttpResponse(write(rows), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{cluster.name}-history.{ending}"'
    response["Cache-Control"] = "private, no-store"
    return response
