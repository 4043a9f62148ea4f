"""What holds for the whole site: what victims learn of preemptors, and who needs approval to publish."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from scheduler_admin.accounts.audit_log import audit_line
from scheduler_admin.accounts.forms.site import ApprovalForm, PreemptorForm, SupportForm, ToolLinksForm
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.accounts.pages.people.base import navigation
from scheduler_admin.accounts.scopes import acting, scope_of
from scheduler_admin.accounts.selectors import site as selected
from scheduler_admin.accounts.services.site import change_site
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
    assert isinstance(request.user, User)
    found, shell = selected(), navigation(request.user, "site")
    switches = {name: getattr(found, name) for name in ("second_for_editors", "second_for_admins")}
    forms: dict[str, Form] = {
        "tell": PreemptorForm(initial={"preemptor": found.preemptor}),
        "second": ApprovalForm(initial=switches),
        "support": SupportForm(initial={"contact": found.support_contact, "links": found.support_links}),
        "tools": ToolLinksForm(initial={"pod_links": found.pod_links, "node_links": found.node_links}),
    }
    if refused is not None:
        forms[refused.key] = refused
    if not shell["may_administer"]:
        for form in forms.values():
            form.lock()
    changes = [audit_line(event) for event in AuditEvent.objects.filter(verb="site.change")[:_CHANGES]]
    context = shell | {"forms": forms, "changes": changes}
    return render(request, "accounts/site.html", context, status=422 if refused else 200)


def _change_site(actor: User, form: Form) -> None:
    change_site(**form.cleaned_data, actor=actor)


def _change_support(actor: User, form: Form) -> None:
    given = form.cleaned_data
    change_site(
        support_contact=given["contact"].strip(), support_links=given["links"], reason=given["reason"], actor=actor
    )


_ACTS: dict[str, tuple[type[Form], Callable[[User, Form], None]]] = {
    "tell": (PreemptorForm, _change_site),
    "second": (ApprovalForm, _change_site),
    "support": (SupportForm, _change_support),
    "tools": (ToolLinksForm, _change_site),
}
