"""One decision: why?"""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from engine.planning.journal import JournalError
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.selectors import site
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.decisions.pages.changes import otherwise_part
from scheduler_admin.decisions.pages.decision_context import decision_page
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.decisions.presenters.tickets import decision_ticket
from scheduler_admin.decisions.replay.changes import answers
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.replay.replay_file import replay_file, replays
from scheduler_admin.decisions.selectors import decisions, pods
from scheduler_admin.pending.pages.context import waiting_shell
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def replay(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """All that it rests on, as a file that decides it again; for those who see everything."""
    cluster = seen_whole(request.user, name)
    row = decisions.detail(request.user, cluster, pk).row
    try:
        data = replay_file(row)
    except (CannotReplayError, JournalError) as error:
        raise Http404 from error
    response = HttpResponse(data, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{cluster.name}-decision-{pk}.zip"'
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
@login_required
def decision(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Why these pods, or why none; tenants are shown the page of their own pod in it instead."""
    cluster = clusters.get(request.user, name)
    if not scope_of(request.user, "view").everything:
        event = pods.of_decision(request.user, cluster, pk)
        return redirect(f"{reverse('web:pod', args=[cluster.name, event.namespace, event.name])}?decision={pk}")
    detail = decisions.detail(request.user, cluster, pk)

    def build() -> Context:
        why = decision_page(detail, site())
        return {
            "why": why,
            "ticket": decision_ticket(
                detail.row,
                cluster=cluster.name,
                word=why.word,
                sentences=[*([why.sentence] if why.sentence else []), *why.because],
                sides=why.sides,
                victims=detail.victims,
            ),
            "replays": replays(detail.row),
            "fresh": clusters.freshness(clusters.status_of(cluster), timezone.now()),
        }

    fragment = request.headers.get("HX-Request") == "true"  # its refresh leaves this part as it is
    asked = "otherwise" in request.GET and answers(detail.row) and not fragment
    return answer(
        request,
        "decisions/decision.html",
        build,
        cluster,
        decided=True,
        cluster=cluster,
        number=pk,
        answers=answers(detail.row),
        **waiting_shell(request, cluster, detail.row),
        otherwise=otherwise_part(detail.row) if asked else None,
    )
