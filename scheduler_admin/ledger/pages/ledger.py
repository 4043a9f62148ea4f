"""The ledger: who gained from whom, month by month."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_heads
from scheduler_admin.decisions import exports
from scheduler_admin.ledger.exports import LEDGER_COLUMNS, ledger_facts
from scheduler_admin.ledger.pages.ledger_context import LedgerAddress, ledger_page
from scheduler_admin.ledger.selectors import ledger as read
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def ledger(request: HttpRequest) -> HttpResponse:
    """What the reader's queues gave and got in a month, and what whose gave up for whom."""
    asked = LedgerAddress.of(request.GET.dict(), timezone.now())
    rows = Cluster.objects.restrict(request.user, "view").select_related("status", "hierarchy")
    seen = list(rows.defer(*status_heads("status")))
    everything = scope_of(request.user, "view").everything

    def build() -> Context:
        return {"page_of": ledger_page(read(request.user, asked.asked(request.user)))}

    shell: Context = {
        "cluster": seen[0] if len(seen) == 1 else None,  # the only one: its pages stay in reach
        "asked": asked,
        "clusters": sorted(one.name for one in seen),
        "tenants": list(Tenant.objects.order_by("name").values_list("name", flat=True)) if everything else [],
        "address": asked.address(),
    }
    return answer(request, "ledger/ledger.html", build, *seen, **shell)


@require_safe
@login_required
def as_csv(request: HttpRequest) -> StreamingHttpResponse:
    """The month that is asked for as CSV."""
    lines = exports.csv_lines(LEDGER_COLUMNS, _facts(request))
    return _export(request, lines, "text/csv; charset=utf-8", "csv")


@require_safe
@login_required
def as_json(request: HttpRequest) -> StreamingHttpResponse:
    """The month that is asked for as JSON."""
    return _export(request, exports.json_lines(_facts(request)), "application/json", "json")


def _facts(request: HttpRequest) -> Iterator[Mapping[str, Any]]:
    asked = LedgerAddress.of(request.GET.dict(), timezone.now()).asked(request.user)
    return ledger_facts(asked.month, read(request.user, asked))


def _export(request: HttpRequest, lines: Iterator[str], content_type: str, ending: str) -> StreamingHttpResponse:
    month = LedgerAddress.of(request.GET.dict(), timezone.now()).month
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="ledger-{month:%Y-%m}.{ending}"'
    response["Cache-Control"] = "private, no-store"
    return response
