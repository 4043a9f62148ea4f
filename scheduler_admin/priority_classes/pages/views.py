"""The PriorityClasses of a cluster: who has which, and what may be changed of them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from engine.formats.kubernetes.convert import NEVER
from engine.model.objects import PriorityClass
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.clusters import selectors as clusters
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.forms import Form, sent_act
from scheduler_admin.decisions.pages.history import seen_whole
from scheduler_admin.priority_classes.forms import (
    EMPTY,
    PREEMPTS,
    ChangeClassForm,
    DeleteClassForm,
    NewClassForm,
    typed_of,
)
from scheduler_admin.priority_classes.pages.context import class_page, classes_page, known
from scheduler_admin.priority_classes.pages.for_tenants import tenants_page
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
    """All of them, with who uses them and their quotas. Tenants read what each is for. POST makes a new one."""
    if request.method != "POST" and not scope_of(request.user, "view").everything:
        shared = clusters.get(request.user, name)
        own = lambda: tenants_page(request.user, shared)  # noqa: E731
        return answer(request, "priority_classes/classes_for_tenants.html", own, shared, cluster=shared)
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        build = lambda: classes_page(request.user, cluster, timezone.now())  # noqa: E731
        form = NewClassForm(initial=EMPTY)
        return answer(request, "priority_classes/priority_classes.html", build, cluster, cluster=cluster, form=form)
    actor, form = acting(request.user, "classify"), NewClassForm(request.POST)
    if not form.is_valid():
        return _refused_new(request, name, form)
    try:
        made = create_class(cluster=cluster, wanted=form.asked(), actor=actor, reason=form.cleaned_data["reason"])
    except ValidationError as error:
        form.refuse(error)
        return _refused_new(request, name, form)
    messages.success(request, _("Created %(name)s. New pods can now use it.") % {"name": made.name})
    return redirect("web:priority_class", cluster.name, made.name)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def priority_class(request: HttpRequest, name: str, priority_class: str) -> HttpResponse:
    """One class: which pods have it. POST: ``act`` says whether it is changed or deleted."""
    cluster = seen_whole(request.user, name)
    if request.method != "POST":
        _picture, row = known(cluster, priority_class)
        build = lambda: class_page(request.user, cluster, priority_class, timezone.now())  # noqa: E731
        forms = _forms(row.one)
        return answer(request, "priority_classes/priority_class.html", build, cluster, cluster=cluster, **forms)
    actor = acting(request.user, "classify")
    change = sent_act(request, ("change", "delete")) == "change"
    form = ChangeClassForm(request.POST) if change else DeleteClassForm(request.POST)
    valid, seen = form.is_valid(), form.cleaned_data.get("seen")
    if seen is None or seen.name != priority_class:
        raise BadRequest
    if not valid:
        return _refused(request, name, seen, form)
    try:
        return _change(request, cluster, actor, form) if change else _delete(request, cluster, actor, form)
    except ClashError as error:
        return _clashing(request, name, form, error)
    except OvertakenError as error:
        return _overtaken(request, name, form, error.now)
    except ValidationError as error:
        form.refuse(error)
        return _refused(request, name, seen, form)


def _change(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> HttpResponse:
    assert isinstance(form, ChangeClassForm)
    seen, reason = form.cleaned_data["seen"], form.cleaned_data["reason"]
    merge_class(cluster=cluster, seen=seen, wanted=form.over(seen), actor=actor, reason=reason)
    messages.success(request, _("Saved %(name)s.") % {"name": seen.name})
    return redirect("web:priority_class", cluster.name, seen.name)


def _delete(request: HttpRequest, cluster: Cluster, actor: User, form: Form) -> HttpResponse:
    seen, reason = form.cleaned_data["seen"], form.cleaned_data["reason"]
    delete_class(cluster=cluster, before=seen, actor=actor, reason=reason)
    messages.success(request, _("Deleted %(name)s. Pods that use it are not affected.") % {"name": seen.name})
    return redirect("web:priority_classes", cluster.name)


def _clashing(request: HttpRequest, name: str, sent: Form, error: ClashError) -> HttpResponse:
    """What was typed, over the class as it is now: sent again, it is meant."""
    there = typed_of(error.now)
    wrong = _(
        "Someone else changed this in the meantime. It is now “%(now)s”; save again to replace it with your entry."
    )
    form = ChangeClassForm(typed_of(error.wanted) | {"seen": there["seen"], "reason": sent.cleaned_data["reason"]})
    for field in error.fields:
        form.add_error(field, wrong % {"now": _said(there.get(field, ""))})
    return _refused(request, name, error.now, form, 409)


def _said(typed: str) -> str:
    return {"on": _("yes"), "": _("no")}.get(typed, typed.replace("\n", ", "))


def _overtaken(request: HttpRequest, name: str, sent: Form, now: PriorityClass | None) -> HttpResponse:
    """It is gone, or another one, or it changed before it could be deleted."""
    seen, reason = sent.cleaned_data["seen"], sent.cleaned_data["reason"]
    if now is not None:
        form = type(sent)(typed_of(now) | {"reason": reason})
        wrong = _(
            "Someone else changed %(name)s in the meantime. Nothing was saved; the form below shows its current values."
        )
        form.refuse(wrong % {"name": now.name})
        return _refused(request, name, now, form, 409)
    wrong = _(
        "Someone else deleted %(name)s in the meantime. The form below has your values, ready to create it again."
    )
    typed = dict(sent.data.items()) if isinstance(sent, ChangeClassForm) else {**typed_of(seen), "reason": reason}
    policy = NEVER if seen.never_preempts else PREEMPTS
    new = NewClassForm(typed | {"name": seen.name, "value": str(seen.value), "preemption_policy": policy})
    new.refuse(wrong % {"name": seen.name})
    return _refused_new(request, name, new, 409)


def _refused(request: HttpRequest, name: str, shown: PriorityClass, form: Form, status: int = 422) -> HttpResponse:
    """The page of a class with what was typed still in its form, and what is wrong there."""
    cluster = seen_whole(request.user, name)  # anew: it may just have been heard of
    context = class_page(request.user, cluster, shown.name, timezone.now()) | _forms(shown, form)
    return _page(request, cluster, "priority_class", context, status)


def _forms(shown: PriorityClass, refused: Form | None = None) -> Context:
    """The forms of the page of a class."""
    typed = typed_of(shown)
    found: Context = {"form": ChangeClassForm(initial=typed), "delete": DeleteClassForm(initial=typed)}
    if refused is not None:
        found[refused.key or "form"] = refused
    return found


def _refused_new(request: HttpRequest, name: str, form: NewClassForm, status: int = 422) -> HttpResponse:
    """The same of a new one."""
    cluster = seen_whole(request.user, name)
    context = classes_page(request.user, cluster, timezone.now()) | {"form": form}
    return _page(request, cluster, "priority_classes", context, status)


def _page(request: HttpRequest, cluster: Cluster, page: str, context: Context, status: int) -> HttpResponse:
    context |= {"cluster": cluster, "etag": etag(request, cluster)}
    return render(request, f"priority_classes/{page}.html", context, status=status)
