"""Group mappings: what the groups of identity providers are here, and pages on which an admin changes that."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from scheduler_admin.accounts.doors import (
    add_mapping,
    change_mapping,
    mapping_tag,
    people_by_group,
    remove_mapping,
)
from scheduler_admin.accounts.forms.group_mappings import ChangeMappingForm, MappingForm
from scheduler_admin.accounts.forms.users import DeleteForm
from scheduler_admin.accounts.models import GroupMapping
from scheduler_admin.accounts.pages.people.base import AdminForm, AdminRowForm, StaffPage
from scheduler_admin.accounts.selectors import tenant_called


class GroupMappings(StaffPage):
    """All group mappings, by group."""

    template_name = "accounts/group_mappings.html"
    section = "group_mappings"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return each mapping with how many people have its group."""
        people = people_by_group()
        rows = [(each, people[each.group]) for each in GroupMapping.objects.select_related("tenant")]
        return super().get_context_data(**kwargs, rows=rows, doors=_doors())


class NewMapping(AdminForm):
    """A form that maps a group."""

    template_name = "accounts/group_mapping_add.html"
    form_class = MappingForm
    section = "group_mappings"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return where groups come from."""
        return super().get_context_data(**kwargs, doors=_doors())

    def act(self, form: Any) -> HttpResponse:
        """Map the group."""
        made = add_mapping(**_given(form), actor=self.actor)
        messages.success(self.request, _("Group %(name)s is mapped.") % {"name": made.group})
        return redirect("web:group_mappings")


class OneMapping(AdminRowForm[GroupMapping]):
    """A page about one mapping, which is for admins alone."""

    section = "group_mappings"

    def rows(self) -> QuerySet[GroupMapping]:
        """Return all mappings."""
        return GroupMapping.objects.select_related("tenant")

    def tag_of(self, row: GroupMapping) -> str:
        """Return what tells one state of a mapping from another."""
        return mapping_tag(row)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return how many people have the group."""
        return super().get_context_data(**kwargs, people=people_by_group()[self.row.group], doors=_doors())


class MappingPage(OneMapping):
    """What a group is here. POST changes it."""

    template_name = "accounts/group_mapping.html"
    form_class = ChangeMappingForm

    def get_initial(self) -> dict[str, Any]:
        """Return the mapping's present values."""
        row = self.row
        now = {"group": row.group, "role": row.role, "tenant": row.tenant.name if row.tenant else ""}
        return super().get_initial() | now

    def act(self, form: Any) -> HttpResponse:
        """Change the mapping."""
        seen = form.cleaned_data["seen"]
        changed = change_mapping(mapping=self.row, **_given(form), actor=self.actor, seen=seen)
        messages.success(self.request, _("Saved %(name)s.") % {"name": changed.group})
        return redirect("web:group_mappings")


class DeleteMapping(OneMapping):
    """What follows when a mapping is deleted. POST deletes it."""

    template_name = "accounts/group_mapping_delete.html"
    form_class = DeleteForm

    def act(self, form: Any) -> HttpResponse:
        """Delete the mapping."""
        given = form.cleaned_data
        remove_mapping(mapping=self.row, actor=self.actor, reason=given["reason"], seen=given["seen"])
        messages.success(self.request, _("Deleted %(name)s.") % {"name": self.row.group})
        return redirect("web:group_mappings")


def _given(form: Any) -> dict[str, Any]:
    given = {name: form.cleaned_data[name] for name in ("group", "role", "reason")}
    return given | {"tenant": tenant_called(form.cleaned_data["tenant"])}


def _doors() -> dict[str, str]:
    """Return where groups come from: an OpenID provider, a cluster."""
    return {"oidc": settings.OIDC_ISSUER, "kubernetes": settings.TOKEN_REVIEW_CLUSTER}
