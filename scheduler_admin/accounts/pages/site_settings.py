"""What holds for the whole site: what victims learn of preemptors, and what groups of other doors are here."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.doors import add_mapping, remove_mapping
from scheduler_admin.accounts.forms import ApprovalForm, MappingForm, PreemptorForm, RemoveMappingForm, SupportForm
from scheduler_admin.accounts.models import AuditEvent, GroupMapping, Tenant, User
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.accounts.selectors import site as selected
from scheduler_admin.accounts.selectors import tenant_called
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.accounts.support import write_lines
from scheduler_admin.core import limits
from scheduler_admin.core.forms import Form, sent_act

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
    actor = acting(request.user, "administer")
    form_class, act = _ACTS[sent_act(request, _ACTS)]
    form = form_class(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        act(actor, form)
    except ValidationError as error:
        form.refuse(error)
        return _page(request, form)
    messages.success(request, _("Changes saved."))
    return redirect("web:site")


def _page(request: HttpRequest, refused: Form | None = None) -> HttpResponse:
    """The page; ``refused`` is a form that was turned away."""
    verbs = ("site.change", "mapping.add", "mapping.remove", "user.groups")
    found, may_administer = selected(), scope_of(request.user, "administer").everything
    switches = {name: getattr(found, name) for name in ("second_for_editors", "second_for_admins")}
    forms: dict[str, Form] = {
        "tell": PreemptorForm(initial={"preemptor": found.preemptor}),
        "second": ApprovalForm(initial=switches),
        "support": SupportForm(
            initial={"contact": found.support_contact, "links": write_lines(found.support_links)},
        ),
        "map": MappingForm(),
    }
    if refused is not None:
        forms[refused.key] = refused
    if may_administer:
        names = Tenant.objects.order_by("name").values_list("name", flat=True)
        forms["map"].offer("tenant", [("", "–"), *((name, name) for name in names)])
    else:
        for form in forms.values():
            form.lock()
    context = {
        "forms": forms,
        "mappings": GroupMapping.objects.select_related("tenant"),
        "doors": {"oidc": settings.OIDC_ISSUER, "kubernetes": settings.TOKEN_REVIEW_CLUSTER},
        "changes": AuditEvent.objects.filter(verb__in=verbs)[:_CHANGES],
        "may_administer": may_administer,
        "longest_reason": limits.REASON,
    }
    return render(request, "accounts/site.html", context, status=422 if refused else 200)


def _change_site(actor: User, form: Form) -> None:
    change_site(**form.cleaned_data, actor=actor)


def _change_support(actor: User, form: Form) -> None:
    given = form.cleaned_data
    change_site(
        support_contact=given["contact"].strip(), support_links=given["links"], reason=given["reason"], actor=actor
    )


def _map(actor: User, form: Form) -> None:
    given = form.cleaned_data
    add_mapping(**given | {"tenant": tenant_called(given["tenant"])}, actor=actor)


def _unmap(actor: User, form: Form) -> None:
    found = GroupMapping.objects.select_related("tenant").filter(pk=form.cleaned_data["mapping"]).first()
    if found is None:
        raise Http404
    remove_mapping(mapping=found, actor=actor, reason=form.cleaned_data["reason"])


_ACTS: dict[str, tuple[type[Form], Callable[[User, Form], None]]] = {
    "tell": (PreemptorForm, _change_site),
    "second": (ApprovalForm, _change_site),
    "support": (SupportForm, _change_support),
    "map": (MappingForm, _map),
    "unmap": (RemoveMappingForm, _unmap),
}
