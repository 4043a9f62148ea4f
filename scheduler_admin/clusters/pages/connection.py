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
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.connections.credentials import remove_credentials, set_credentials
from scheduler_admin.clusters.connections.error_messages import told, told_line
from scheduler_admin.clusters.connections.sealing import can_seal
from scheduler_admin.clusters.forms.connections import CheckForm, CredentialsForm, ForgetForm
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import sent_act
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
    match sent_act(request, ("check", "remove", "replace"), default="replace"):
        case "check":
            return _check(request, cluster, actor)
        case "remove":
            return _forget(request, cluster, actor)
        case _:
            return _replace(request, cluster, actor)


def _check(request: HttpRequest, cluster: Cluster, actor: User) -> HttpResponse:
    form = CheckForm(request.POST)
    mode = form.cleaned_data["mode"] if form.is_valid() else ""
    return _page(request, cluster, report=check_cluster(cluster=cluster, mode=mode, actor=actor))


def _forget(request: HttpRequest, cluster: Cluster, actor: User) -> HttpResponse:
    form = ForgetForm(request.POST)
    if not form.is_valid():
        return _page(request, cluster, forget=form)
    remove_credentials(cluster=cluster, actor=actor, reason=form.cleaned_data["reason"])
    messages.success(request, _("The stored credentials of %(name)s are deleted.") % {"name": cluster.name})
    return redirect("web:connection", cluster.name)


@sensitive_variables()
def _replace(request: HttpRequest, cluster: Cluster, actor: User) -> HttpResponse:
    form = CredentialsForm(request.POST)
    if not form.is_valid():
        return _page(request, cluster, replace=form)
    try:
        way = form.pasted()
        if way is None:
            form.add_error("text", _("Paste a kubeconfig, or enter an address and a token."))
            return _page(request, cluster, replace=form)
        set_credentials(cluster=cluster, way=way, actor=actor, reason=form.cleaned_data["reason"])
    except ClusterError as error:
        form.add_error("text", told(error))
        return _page(request, cluster, replace=form)
    except ValidationError as error:
        form.add_error("text", error.messages)
        return _page(request, cluster, replace=form)
    messages.success(request, _("%(name)s now uses the new credentials.") % {"name": cluster.name})
    return redirect("web:connection", cluster.name)


def _page(
    request: HttpRequest,
    cluster: Cluster,
    *,
    replace: CredentialsForm | None = None,
    forget: ForgetForm | None = None,
    report: Report | None = None,
) -> HttpResponse:
    """The page, with a form that was turned away, or what a check found."""
    mode = report.mode if report else cluster.mode
    context: dict[str, Any] = {
        "cluster": cluster,
        "stored": selectors.credentials_of(cluster),
        "now": timezone.now(),
        "soon": timezone.now() + ENDS_SOON,
        "check": CheckForm(initial={"mode": mode}),
        "replace": replace or CredentialsForm(),
        "forget": forget or ForgetForm(),
        "can_seal": can_seal(),
        "report": report,
        "lines": [(line, told_line(line)) for line in report.lines] if report else [],
        "mode": Cluster.Mode(mode).label,
        "may_connect": scope_of(request.user, "connect").everything,
    }
    return render(request, "clusters/connection.html", context)
