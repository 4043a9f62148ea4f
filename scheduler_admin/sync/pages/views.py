"""The copy of its tree that a cluster's own scheduler goes by: how it stands to ours, and what may be done about it."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.numbers import read_number
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.queues.models import Draft
from scheduler_admin.site.live import Context, answer, etag
from scheduler_admin.sync.presenters import copies_page
from scheduler_admin.sync.services import OvertakenError, ask_to_put_back, ask_to_write, look_now, place, take


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def copies(request: HttpRequest, name: str) -> HttpResponse:
    """GET: how the two stand. POST: ``act`` says whether to look, where, to write, or to take it into a draft."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        return answer(request, "sync/copies.html", lambda: copies_page(request.user, cluster), cluster, cluster=cluster)
    act = _ACTS.get(request.POST.get("act", ""))
    actor = acting(request.user, "edit")
    if act is None:
        raise BadRequest
    try:
        made = act(request, cluster, actor)
    except OvertakenError:
        wrong = _("The cluster’s copy, or the revision in force, changed meanwhile. Look at what writing changes now.")
        return _refused(request, name, {"": wrong}, 412)
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        return _refused(request, name, {field: " ".join(found) for field, found in fields.items()}, 422)
    return redirect("web:draft", cluster.name, made.pk) if made else redirect("web:copies", cluster.name)


def _refused(request: HttpRequest, name: str, wrong: dict[str, str], status: int) -> HttpResponse:
    """The page as it is now, with what was typed still in its form, and what is wrong there."""
    cluster = seen_whole(request.user, name)
    context: Context = {**copies_page(request.user, cluster), "cluster": cluster, "etag": etag(request, cluster)}
    context |= {"wrong": wrong, "typed": request.POST.dict(), "act": request.POST["act"]}
    return render(request, "sync/copies.html", context, status=status)


def _look(request: HttpRequest, cluster: Cluster, _actor: User) -> None:
    look_now(cluster=cluster)
    messages.success(request, _("The engine’s worker looks at it within seconds."))


def _write(request: HttpRequest, cluster: Cluster, actor: User) -> None:
    ask_to_write(
        cluster=cluster,
        revision=read_number(request.POST.get("revision", "")),
        version=request.POST.get("version", ""),
        overwrite=request.POST.get("overwrite") == "on",
        actor=actor,
        reason=request.POST.get("reason", ""),
        over=read_number(request.POST.get("over", "")),
    )
    messages.success(request, _("Asked for: the engine’s worker writes it within seconds."))


def _put_back(request: HttpRequest, cluster: Cluster, actor: User) -> None:
    form = request.POST
    ask_to_put_back(cluster=cluster, version=form.get("version", ""), actor=actor, reason=form.get("reason", ""))
    messages.success(request, _("Asked for: the engine’s worker writes it within seconds."))


def _place(request: HttpRequest, cluster: Cluster, actor: User) -> None:
    form = request.POST
    place(cluster=cluster, namespace=form.get("namespace", ""), actor=actor, reason=form.get("reason", ""))
    messages.success(request, _("The engine’s worker looks there within seconds."))


def _take(_request: HttpRequest, cluster: Cluster, actor: User) -> Draft:
    return take(cluster=cluster, author=actor)


_ACTS: dict[str, Callable[[HttpRequest, Cluster, User], Draft | None]] = {
    "look": _look,
    "write": _write,
    "put-back": _put_back,
    "take": _take,
    "place": _place,
}
