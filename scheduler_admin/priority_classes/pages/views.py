"""The PriorityClasses of a cluster: who has which, and what may be changed of them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from engine.model.objects import PriorityClass
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.priority_classes.pages.class_form import EMPTY, changed_class, new_class, seen_class, typed_of
from scheduler_admin.priority_classes.pages.context import class_page, classes_page, known
from scheduler_admin.priority_classes.services import (
    ClashError,
    OvertakenError,
    create_class,
    delete_class,
    merge_class,
)
from scheduler_admin.site.live import Context, answer, etag


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def priority_classes(request: HttpRequest, name: str) -> HttpResponse:
    """All of them, with who uses them and the quotas that go by them. POST makes a new one."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        build = lambda: classes_page(request.user, cluster, timezone.now())  # noqa: E731
        return answer(request, "priority_classes/priority_classes.html", build, cluster, cluster=cluster, typed=EMPTY)
    actor = acting(request.user, "classify")
    try:
        made = create_class(
            cluster=cluster, wanted=new_class(request.POST.dict()), actor=actor, reason=request.POST.get("reason", "")
        )
    except ValidationError as error:
        return _refused_new(request, name, _by_field(error), request.POST.dict())
    messages.success(request, _("%(name)s is there: new pods may name it.") % {"name": made.name})
    return redirect("web:priority_class", cluster.name, made.name)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def priority_class(request: HttpRequest, name: str, priority_class: str) -> HttpResponse:
    """One class: which pods have it. POST: ``act`` says whether it is changed or deleted."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        _picture, row = known(cluster, priority_class)
        build = lambda: class_page(request.user, cluster, priority_class, timezone.now())  # noqa: E731
        return answer(
            request, "priority_classes/priority_class.html", build, cluster, cluster=cluster, typed=typed_of(row.one)
        )
    actor, seen = acting(request.user, "classify"), seen_class(request.POST.dict())
    act = {"change": _change, "delete": _delete}.get(request.POST.get("act", ""))
    if act is None or seen is None or seen.name != priority_class:
        raise BadRequest
    try:
        return act(request, cluster, seen, actor)
    except ClashError as error:
        return _clashing(request, name, error)
    except OvertakenError as error:
        return _overtaken(request, name, seen, error.now)
    except ValidationError as error:
        typed = request.POST.dict() if request.POST["act"] == "change" else typed_of(seen)
        return _refused(request, name, seen.name, typed, _by_field(error))


def _change(request: HttpRequest, cluster: Cluster, seen: PriorityClass, actor: User) -> HttpResponse:
    wanted = changed_class(seen, request.POST.dict())
    merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=actor, reason=request.POST.get("reason", ""))
    messages.success(request, _("%(name)s is changed.") % {"name": seen.name})
    return redirect("web:priority_class", cluster.name, seen.name)


def _delete(request: HttpRequest, cluster: Cluster, seen: PriorityClass, actor: User) -> HttpResponse:
    delete_class(cluster=cluster, before=seen, actor=actor, reason=request.POST.get("reason", ""))
    messages.success(request, _("%(name)s is deleted. Pods that have it stay as they are.") % {"name": seen.name})
    return redirect("web:priority_classes", cluster.name)


def _clashing(request: HttpRequest, name: str, error: ClashError) -> HttpResponse:
    """What was typed, over the class as it is now: sent again, it is meant."""
    there = typed_of(error.now)
    wrong = _(
        "Somebody else changed this meanwhile: it says “%(now)s”. Send the form again if you mean what you typed."
    )
    fields = {field: wrong % {"now": _said(there.get(field, ""))} for field in error.fields}
    typed = {**typed_of(error.wanted), "seen": there["seen"]}
    return _refused(request, name, error.now.name, typed, fields, 409)


def _said(typed: str) -> str:
    return {"on": _("yes"), "": _("no")}.get(typed, typed.replace("\n", ", "))


def _overtaken(request: HttpRequest, name: str, seen: PriorityClass, now: PriorityClass | None) -> HttpResponse:
    """It is gone, or another one, or it changed before it could be deleted."""
    if now is not None:
        wrong = _("Somebody else changed %(name)s meanwhile. Below is how it is now; nothing was done.")
        return _refused(request, name, now.name, typed_of(now), {"": wrong % {"name": now.name}}, 409)
    wrong = _("Somebody else deleted %(name)s meanwhile. What you had of it is below, as a new class.")
    policy = "Never" if seen.never_preempts else EMPTY["preemption_policy"]
    typed = request.POST.dict() if request.POST["act"] == "change" else typed_of(seen)
    typed |= {"name": seen.name, "value": str(seen.value), "preemption_policy": policy}
    return _refused_new(request, name, {"": wrong % {"name": seen.name}}, typed, 409)


def _refused(
    request: HttpRequest,
    name: str,
    priority_class: str,
    typed: dict[str, str],
    wrong: dict[str, str],
    status: int = 422,
) -> HttpResponse:
    """The page of a class with what was typed still in its form, and what is wrong there."""
    cluster = seen_whole(request.user, name)  # anew: it may just have been heard of
    context: Context = {**class_page(request.user, cluster, priority_class, timezone.now()), "typed": typed}
    return _page(request, cluster, "priority_class", context, wrong, status)


def _refused_new(
    request: HttpRequest, name: str, wrong: dict[str, str], typed: dict[str, str], status: int = 422
) -> HttpResponse:
    """The same of a new one."""
    cluster = seen_whole(request.user, name)
    context: Context = {**classes_page(request.user, cluster, timezone.now()), "typed": typed}
    return _page(request, cluster, "priority_classes", context, wrong, status)


def _page(
    request: HttpRequest, cluster: Cluster, page: str, context: Context, wrong: dict[str, str], status: int
) -> HttpResponse:
    context |= {"cluster": cluster, "wrong": wrong, "etag": etag(request, cluster)}
    context |= {"act": request.POST.get("act", ""), "reason": request.POST.get("reason", "")}
    return render(request, f"priority_classes/{page}.html", context, status=status)


def _by_field(error: ValidationError) -> dict[str, str]:
    """Field -> what is wrong with it; "" for the whole."""
    fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    return {"" if name == "__all__" else name: " ".join(found) for name, found in fields.items()}
