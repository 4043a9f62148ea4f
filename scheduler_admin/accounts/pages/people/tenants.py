"""Tenants: a list, and pages on which an admin creates, changes and deletes them."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from scheduler_admin.accounts.forms.tenants import ChangeTenantForm, MemberForm, NewTenantForm
from scheduler_admin.accounts.forms.users import DeleteForm
from scheduler_admin.accounts.models import Membership, Tenant
from scheduler_admin.accounts.pages.people.base import AdminForm, StaffPage, StaffRowForm
from scheduler_admin.accounts.services.tenants import (
    change_tenant,
    create_tenant,
    delete_tenant,
    goes_with,
    tenant_tag,
)
from scheduler_admin.accounts.services.users import add_member
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import numbered
from scheduler_admin.queues.models import Queue


class Tenants(StaffPage):
    """All tenants, with what belongs to each."""

    template_name = "accounts/tenants.html"
    section = "tenants"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the tenants that the address asks for, by name."""
        text = self.request.GET.get("q", "").strip()
        found = Tenant.objects.order_by("name").annotate(people=Count("memberships"))
        rows, paged = numbered(found.filter(name__icontains=text) if text else found, self.request.GET)
        return super().get_context_data(**kwargs, tenants=rows, paged=paged, text=text)


class NewTenant(AdminForm):
    """A form that creates a tenant."""

    template_name = "accounts/tenant_add.html"
    form_class = NewTenantForm
    section = "tenants"

    def act(self, form: Any) -> HttpResponse:
        """Create the tenant."""
        made = create_tenant(**_given(form), actor=self.actor)
        messages.success(self.request, _("Tenant %(name)s was created.") % {"name": made})
        return redirect("web:tenant", made.pk)


class OneTenant(StaffRowForm[Tenant]):
    """A page about one tenant."""

    section = "tenants"

    def rows(self) -> QuerySet[Tenant]:
        """Return all tenants."""
        return Tenant.objects.all()

    def tag_of(self, row: Tenant) -> str:
        """Return what tells one state of a tenant from another."""
        return tenant_tag(row)


class TenantPage(OneTenant):
    """What belongs to a tenant, and who. POST changes what belongs to it."""

    template_name = "accounts/tenant.html"
    form_class = ChangeTenantForm

    def get_initial(self) -> dict[str, Any]:
        """Return the tenant's present values."""
        lists = {name: "\n".join(getattr(self.row, name)) for name in ("namespaces", "subtrees")}
        return super().get_initial() | lists | {"name": self.row.name}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return the tenant's members, its group mappings, and where its queues are."""
        row = self.row
        return super().get_context_data(
            **kwargs,
            members=Membership.objects.filter(tenant=row).select_related("user").order_by("user__username"),
            mappings=row.mappings.all(),
            queues=_places(row.subtrees),
        )

    def act(self, form: Any) -> HttpResponse:
        """Change the tenant."""
        seen = form.cleaned_data["seen"]
        changed = change_tenant(tenant=self.row, **_given(form), actor=self.actor, seen=seen)
        messages.success(self.request, _("Saved %(name)s.") % {"name": changed})
        return redirect("web:tenant", changed.pk)


class NewMember(OneTenant):
    """A form that makes an existing user a member."""

    template_name = "accounts/member_add.html"
    form_class = MemberForm
    reading = "administer"

    def act(self, form: Any) -> HttpResponse:
        """Make them one."""
        given = form.cleaned_data
        changed = add_member(
            tenant=self.row, username=given["user"], role=given["role"], actor=self.actor, reason=given["reason"]
        )
        messages.success(self.request, _("%(name)s now belongs to %(tenant)s.") % {"name": changed, "tenant": self.row})
        return redirect("web:tenant", self.row.pk)


class DeleteTenant(OneTenant):
    """What goes with a tenant that is deleted. POST deletes it."""

    template_name = "accounts/tenant_delete.html"
    form_class = DeleteForm
    reading = "administer"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return how much goes with the tenant."""
        return super().get_context_data(**kwargs, counts=goes_with(self.row))

    def act(self, form: Any) -> HttpResponse:
        """Delete the tenant."""
        given = form.cleaned_data
        delete_tenant(tenant=self.row, actor=self.actor, reason=given["reason"], seen=given["seen"])
        messages.success(self.request, _("Deleted %(name)s.") % {"name": self.row})
        return redirect("web:tenants")


def _given(form: Any) -> dict[str, Any]:
    return {name: form.cleaned_data[name] for name in ("name", "namespaces", "subtrees", "reason")}


def _places(paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return each queue path with the clusters whose published tree has it. Two queries."""
    trees: dict[int, list[str]] = {}
    clusters = Cluster.objects.exclude(hierarchy__current=None).values_list("name", "hierarchy__current")
    for cluster, revision in clusters:
        trees.setdefault(revision, []).append(cluster)
    found: dict[str, list[str]] = {}
    for path, revision in Queue.objects.filter(revision__in=[*trees], path__in=[*paths]).values_list(
        "path", "revision"
    ):
        found.setdefault(path, []).extend(trees[revision])
    return [(path, sorted(found.get(path, ()))) for path in paths]
