"""What holds for the whole site: what victims learn of preemptors, and what groups of other doors are here."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, Site, Tenant, User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.accounts.selectors import site as selected
from scheduler_admin.accounts.selectors import tenant_called
from scheduler_admin.accounts.services.accounts import change_site
from scheduler_admin.core.numbers import read_number

_CHANGES = 10
"""The latest that are shown."""


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def site(request: HttpRequest) -> HttpResponse:
    """GET: as it is. POST: ``act`` says what is changed."""
    if not scope_of(request.user, "view").everything:
        raise Http404
    if request.method != "POST":
        return _page(request)
    act = _ACTS.get(request.POST.get("act", ""))
    actor = acting(request.user, "administer")
    if act is None:
        raise BadRequest
    try:
        act(actor, request.POST)
    except ValidationError as error:
        fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
        wrong = " ".join(message for found in fields.values() for message in found)
        return _page(request, status=422, wrong=wrong, act=request.POST["act"], typed=request.POST.dict())
    messages.success(request, _("Done."))
    return redirect("web:site")


def _page(request: HttpRequest, status: int = 200, **more: Any) -> HttpResponse:
    verbs = ("site.change", "mapping.add", "mapping.remove", "user.groups")
    context = {
        "site": selected(),
        "told": Site.Preemptor.choices,
        "mappings": GroupMapping.objects.select_related("tenant"),
        "roles": GroupMapping.ROLES,
        "tenants": Tenant.objects.order_by("name"),
        "doors": {"oidc": settings.OIDC_ISSUER, "kubernetes": settings.TOKEN_REVIEW_CLUSTER},
        "changes": AuditEvent.objects.filter(verb__in=verbs)[:_CHANGES],
        "may_administer": scope_of(request.user, "administer").everything,
    }
    return render(request, "accounts/site.html", context | more, status=status)


def _tell(actor: User, form: QueryDict) -> None:
    change_site(preemptor=form.get("preemptor", ""), actor=actor, reason=form.get("reason", ""))


def _second(actor: User, form: QueryDict) -> None:
    wanted = {name: name in form for name in ("second_for_editors", "second_for_admins")}
    change_site(**wanted, actor=actor, reason=form.get("reason", ""))


def _map(actor: User, form: QueryDict) -> None:
    tenant, reason = tenant_called(form.get("tenant", "")), form.get("reason", "")
    add_mapping(group=form.get("group", ""), role=form.get("role", ""), tenant=tenant, actor=actor, reason=reason)


def _unmap(actor: User, form: QueryDict) -> None:
    found = GroupMapping.objects.select_related("tenant").filter(pk=read_number(form.get("mapping", ""))).first()
    if found is None:
        raise Http404
    remove_mapping(mapping=found, actor=actor, reason=form.get("reason", ""))


_ACTS: dict[str, Callable[[User, QueryDict], None]] = {"tell": _tell, "second": _second, "map": _map, "unmap": _unmap}
