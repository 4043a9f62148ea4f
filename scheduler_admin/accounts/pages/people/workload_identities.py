"""Workload identities: the pipelines that sign in with ID tokens of their platform, on pages for admins."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from scheduler_admin.accounts.forms.users import DeleteForm
from scheduler_admin.accounts.forms.workload_identities import (
    ChangeWorkloadIdentityForm,
    WorkloadIdentityForm,
    claims_text,
)
from scheduler_admin.accounts.models import WorkloadIdentity
from scheduler_admin.accounts.pages.people.base import AdminForm, AdminRowForm, StaffPage
from scheduler_admin.accounts.services.workload_identities import (
    change_identity,
    create_identity,
    delete_identity,
    identity_tag,
)


class WorkloadIdentities(StaffPage):
    """All workload identities, by name, with their last use."""

    template_name = "accounts/workload_identities.html"
    section = "workload_identities"
    reading = "administer"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the identities."""
        rows = WorkloadIdentity.objects.select_related("user")
        return super().get_context_data(**kwargs, rows=[(row, claims_text(row.claims)) for row in rows])


class NewWorkloadIdentity(AdminForm):
    """A form that lets pipelines sign in."""

    template_name = "accounts/workload_identity_add.html"
    form_class = WorkloadIdentityForm
    section = "workload_identities"

    def get_initial(self) -> dict[str, Any]:
        """Return the audience that the command line asks for: the address of this site."""
        return super().get_initial() | {"audience": self.request.build_absolute_uri("/").rstrip("/")}

    def act(self, form: Any) -> HttpResponse:
        """Create the identity."""
        made = create_identity(**form.values, actor=self.actor, reason=form.cleaned_data["reason"])
        messages.success(self.request, _("Created %(name)s.") % {"name": made.name})
        return redirect("web:workload_identities")


class OneWorkloadIdentity(AdminRowForm[WorkloadIdentity]):
    """A page about one workload identity."""

    section = "workload_identities"

    def rows(self) -> QuerySet[WorkloadIdentity]:
        """Return all identities."""
        return WorkloadIdentity.objects.select_related("user")

    def tag_of(self, row: WorkloadIdentity) -> str:
        """Return what tells one state of an identity from another."""
        return identity_tag(row)


class WorkloadIdentityPage(OneWorkloadIdentity):
    """Which pipelines sign in, and as what. POST changes it."""

    template_name = "accounts/workload_identity.html"
    form_class = ChangeWorkloadIdentityForm

    def get_initial(self) -> dict[str, Any]:
        """Return the present values."""
        row = self.row
        now = {name: getattr(row, name) for name in ("name", "issuer", "audience", "scopes", "subtree")}
        more = {"service_account": row.user.get_username(), "claims": claims_text(row.claims)}
        return super().get_initial() | now | more

    def act(self, form: Any) -> HttpResponse:
        """Change the identity."""
        given = form.cleaned_data
        changed = change_identity(
            identity=self.row, values=form.values, actor=self.actor, reason=given["reason"], seen=given["seen"]
        )
        messages.success(self.request, _("Saved %(name)s.") % {"name": changed.name})
        return redirect("web:workload_identities")


class DeleteWorkloadIdentity(OneWorkloadIdentity):
    """What follows when an identity is deleted. POST deletes it."""

    template_name = "accounts/workload_identity_delete.html"
    form_class = DeleteForm

    def act(self, form: Any) -> HttpResponse:
        """Delete the identity."""
        given = form.cleaned_data
        delete_identity(identity=self.row, actor=self.actor, reason=given["reason"], seen=given["seen"])
        messages.success(self.request, _("Deleted %(name)s.") % {"name": self.row.name})
        return redirect("web:workload_identities")
