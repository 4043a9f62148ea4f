"""A cluster of one's own: which one, what is there, and then it is connected."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from engine.cluster.connecting.kubeconfig import default_path
from engine.cluster.errors import SettingsError
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.clusters.connections.access_methods import Way, places
from scheduler_admin.clusters.connections.connect import Look, connect, look
from scheduler_admin.clusters.connections.error_messages import told
from scheduler_admin.clusters.connections.sealing import can_seal, seal
from scheduler_admin.clusters.forms.connections import ConnectForm
from scheduler_admin.clusters.pages.connect_context import connect_page
from scheduler_admin.core.forms import sent_act


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
        return _page(request, _first(request.GET), listed="kubeconfig" in request.GET)
    form, act = ConnectForm(request.POST), sent_act(request, ("list", "look", "connect"), default="look")
    if not form.is_valid():
        return _page(request, form)
    try:
        way = form.way()
    except SettingsError as error:
        form.add_error("kubeconfig" if form.cleaned_data["kubeconfig"] else "text", told(error))
        return _page(request, form)
    if act == "list":
        return _page(request, _first(request.POST), way=way, listed=True)
    return _look(request, form, way, act)


@sensitive_variables()
def _look(request: HttpRequest, form: ConnectForm, way: Way, act: str) -> HttpResponse:
    """Look at the cluster; with ``act`` connect, add it. What is wrong is shown below the button or at its field."""
    try:
        chosen = way.chosen()
    except SettingsError as error:
        form.add_error("context", told(error))
        return _page(request, form, way=way)
    try:
        seen = look(way=chosen, name=form.cleaned_data["name"], actor=_admin(request))
        if act == "look":
            return _page(request, form, way=seen.way, seen=seen)
        cluster = connect(seen=seen, actor=_admin(request))
    except ValidationError as error:
        form.refuse(error)
        return _page(request, form, way=way)
    connected = _("%(name)s is connected. Its data appears within seconds, and nothing is written to the cluster.")
    known = _("%(name)s was already connected and is unchanged.")
    messages.success(request, (known if seen.known else connected) % {"name": cluster.name})
    return redirect("web:queues", cluster.name)


def _admin(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _first(sent: QueryDict) -> ConnectForm:
    """The form with what was chosen so far, before a cluster is asked; no secret is in it."""
    names = ("kubeconfig", "context", "name", "address", "ca")
    return ConnectForm({name: sent.get(name, "") for name in names})


@sensitive_variables()
def _page(
    request: HttpRequest, form: ConnectForm, *, way: Way | None = None, seen: Look | None = None, listed: bool = False
) -> HttpResponse:
    """The page. ``way``: how the cluster is reached, where that is known; ``seen``: what a look at it brought.

    ``listed``: whether somebody has just asked for the contexts, which are then shown below the button.
    """
    files, unusable = places().offered(), bool(form.errors)
    path = form.data.get("kubeconfig") or (default_path() if default_path() in files else "".join(files[:1]))
    form.show(kubeconfig=path)
    form.offer_files(files)
    context: dict[str, Any] = {"form": form, "path": path, "files": files, "places": places().paths}
    context |= {"can_seal": can_seal(), "offered": None, "listed": listed}
    try:
        if way is not None and way.text:
            context["offered"], context["sealed"] = way.kubeconfig().contexts(), seal(way.text)
        elif path and (way is not None or not unusable):
            context["offered"] = Way.by_choice(path).kubeconfig().contexts()
    except SettingsError as trouble:
        form.add_error("text" if way is not None and way.text else "kubeconfig", told(trouble))
    if context["offered"]:
        form.show(context=form.data.get("context") or context["offered"].current)
        form.offer_contexts(context["offered"].names)
    if seen is not None:
        context["seen"] = connect_page(seen)
    return render(request, "clusters/connect.html", context)
