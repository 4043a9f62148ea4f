"""How a cluster is reached, whether that works, and other credentials for it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from engine.cluster.errors import ClusterError
from engine.cluster.inspection.check import ENDS_SOON, Report
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.connections.credentials import remove_credentials, set_credentials
from scheduler_admin.clusters.connections.error_messages import told, told_line
from scheduler_admin.clusters.connections.sealing import can_seal
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.pages.given_access import given_text
from scheduler_admin.worker.cluster_check import check_cluster


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@sensitive_variables()
@sensitive_post_parameters("text", "token", "sealed")
def connection(request: HttpRequest, name: str) -> HttpResponse:
    """What may be told of a connection, for staff. Admins check it and replace credentials, which no one sees."""
    cluster = selectors.get(request.user, name)
    if not scope_of(request.user, "view").everything:
        raise Http404
    if request.method != "POST":
        return _page(request, cluster)
    actor = acting(request.user, "connect")
    reason = request.POST.get("reason", "").strip()
    if request.POST.get("act") == "check":
        mode = request.POST.get("mode", "")
        report = check_cluster(cluster=cluster, mode=mode if mode in Cluster.Mode.values else "", actor=actor)
        return _page(request, cluster, report=report)
    try:
        if not reason:
            return _page(request, cluster, wrong=_("Say why: it is written down with the change."))
        if request.POST.get("act") == "remove":
            remove_credentials(cluster=cluster, actor=actor, reason=reason)
            messages.success(request, _("The credentials kept for %(name)s are forgotten.") % {"name": cluster.name})
            return redirect("web:connection", cluster.name)
        way = given_text(request.POST)
        if way is None:
            return _page(request, cluster, wrong=_("Paste a kubeconfig, or give an address and a token."))
        set_credentials(cluster=cluster, way=way, actor=actor, reason=reason)
    except ClusterError as error:
        return _page(request, cluster, wrong=told(error))
    except ValidationError as error:
        return _page(request, cluster, wrong=" ".join(error.messages))
    messages.success(request, _("%(name)s is reached with the new credentials.") % {"name": cluster.name})
    return redirect("web:connection", cluster.name)


def _page(request: HttpRequest, cluster: Cluster, wrong: str = "", report: Report | None = None) -> HttpResponse:
    asked = {name: request.POST.get(name, "").strip() for name in ("context", "address", "ca", "reason", "act")}
    context: dict[str, Any] = {
        "cluster": cluster,
        "stored": selectors.credentials_of(cluster),
        "now": timezone.now(),
        "soon": timezone.now() + ENDS_SOON,
        "asked": asked,
        "wrong_text": wrong,
        "can_seal": can_seal(),
        "report": report,
        "lines": [(line, told_line(line)) for line in report.lines] if report else [],
        "mode": report.mode if report else cluster.mode,
        "modes": Cluster.Mode.choices,
        "may_connect": scope_of(request.user, "connect").everything,
    }
    return render(request, "clusters/connection.html", context)
