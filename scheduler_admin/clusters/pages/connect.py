"""A cluster of one's own: which one, what is there, and then it is connected."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from engine.cluster.connecting.kubeconfig import default_path
from engine.cluster.errors import ClusterError, SettingsError
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters.connections.access_methods import Way, places
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.sealing import can_seal, seal
from scheduler_admin.clusters.pages.connect_context import connect_page
from scheduler_admin.clusters.pages.given_access import given_way


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@sensitive_variables()
@sensitive_post_parameters("text", "token", "sealed")
def connecting(request: HttpRequest) -> HttpResponse:
    """First a form, then what a look at the cluster brought, then the button that adds it. For admins alone.

    The address names one of the files that are offered, so that its contexts can be; a cluster is only asked after a
    POST. What is pasted travels from form to form sealed.
    """
    if not scope_of(request.user, "view").everything:
        raise Http404
    if not scope_of(request.user, "connect").everything:
        raise PermissionDenied
    if request.method != "POST":
        return _page(request, _asked(request))
    try:
        way = given_way(request.POST)
        if request.POST.get("act") == "list":
            return _page(request, _asked(request), way=way)
        seen = look(way=way, name=request.POST.get("name", ""), actor=_admin(request))
        if request.POST.get("act") != "connect":
            return _page(request, _asked(request), way=seen.way, seen=seen)
        cluster = connect(seen=seen, actor=_admin(request))
    except ClusterError as error:
        return _page(request, _asked(request), wrong_text=told(error))
    except ValidationError as error:
        return _page(request, _asked(request), way=way, error=error)
    connected = _("%(name)s is connected: it is read within seconds, and nothing is written to it.")
    known = _("%(name)s was connected before and stays as it is.")
    messages.success(request, (known if seen.known else connected) % {"name": cluster.name})
    return redirect("web:queues", cluster.name)


def _admin(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _asked(request: HttpRequest) -> dict[str, str]:
    """What the form is filled with again; no secret is."""
    given = request.POST if request.method == "POST" else request.GET
    return {name: given.get(name, "").strip() for name in ("kubeconfig", "context", "name", "address", "ca")}


@sensitive_variables()
def _page(
    request: HttpRequest,
    asked: dict[str, str],
    *,
    way: Way | None = None,
    seen: Look | None = None,
    error: ValidationError | None = None,
    wrong_text: str = "",
) -> HttpResponse:
    context: dict[str, Any] = {"asked": asked, "wrong": "", "wrong_name": "", "wrong_file": "", "offered": None}
    files = places().offered()
    asked["kubeconfig"] = asked["kubeconfig"] or (default_path() if default_path() in files else "".join(files[:1]))
    context |= {"wrong_text": wrong_text, "can_seal": can_seal(), "files": files, "places": places().paths}
    try:
        if way is not None and way.text:
            context["offered"] = way.kubeconfig().contexts()
            context["sealed"] = seal(way.text)
        elif asked["kubeconfig"] and not wrong_text:
            context["offered"] = Way.by_choice(asked["kubeconfig"]).kubeconfig().contexts()
    except SettingsError as trouble:
        context["wrong_text" if way is not None and way.text else "wrong_file"] = told(trouble)
    if error is not None:
        fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        context["wrong_name"] = " ".join(fields.pop("name", ()))
        context["wrong"] = " ".join(sentence for sentences in fields.values() for sentence in sentences)
    if seen is not None:
        context["seen"] = connect_page(seen)
    return render(request, "clusters/connect.html", context)
