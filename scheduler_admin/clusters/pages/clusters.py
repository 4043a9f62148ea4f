"""All clusters, and their emergency brake."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.forms.pauses import ClusterPauseForm, ClusterResumeForm
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.pages.clusters_context import overviews
from scheduler_admin.clusters.safeguards import pauses
from scheduler_admin.core.forms import Form, sent_act
from scheduler_admin.site.live import Context, answer


@require_safe
@login_required
def clusters(request: HttpRequest) -> HttpResponse:
    """Is everything all right? Whole clusters are nothing for tenants."""
    if not scope_of(request.user, "view").everything:
        raise Http404
    found = selectors.every(request.user)

    def build() -> Context:
        may_pause = scope_of(request.user, "operate").everything
        return {
            "overviews": overviews(request.user, found, timezone.now()),
            "may_pause": may_pause,
            "pause_form": ClusterPauseForm(),
            "resume_form": ClusterResumeForm(),
        }

    may_connect = scope_of(request.user, "connect").everything
    return answer(request, "clusters/clusters.html", build, *found, may_connect=may_connect)


@require_POST
@login_required
def pause(request: HttpRequest, name: str) -> HttpResponse:
    """Stops evictions with a reason, or lets them go on."""
    cluster = selectors.get(request.user, name)
    actor = acting(request.user, "operate")
    act = sent_act(request, ("pause", "resume"), default="pause")
    form = ClusterResumeForm(request.POST) if act == "resume" else ClusterPauseForm(request.POST)
    if form.has_error("reason", "required"):
        messages.error(
            request, _("%(name)s is not paused. Enter a reason for others to read.") % {"name": cluster.name}
        )
    elif not form.is_valid():
        messages.error(request, form.all_errors)
    elif act == "resume":
        pauses.resume(cluster=cluster, actor=actor, reason=form.cleaned_data["reason"])
        messages.success(request, _("%(name)s is resumed.") % {"name": cluster.name})
    else:
        _pause(request, cluster, actor, form)
    return redirect("web:clusters")


def _pause(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> None:
    try:
        pauses.pause(cluster=cluster, actor=actor, reason=form.cleaned_data["reason"])
        messages.success(request, _("%(name)s is paused. No pods are evicted there.") % {"name": cluster.name})
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
