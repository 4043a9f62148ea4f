"""What the pages of people and access share: they are for those who see everything, and admins send their forms."""

from typing import Any, ClassVar

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.generic import TemplateView

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.pages.base import M, RowForm, ServiceForm, SignedIn
from scheduler_admin.accounts.scopes import Action, acting, scope_of


class StaffAccess(SignedIn):
    """A page for those who see everything, which is not there for others. Admins alone send its forms."""

    section: ClassVar[str] = ""
    """The entry of the navigation that leads here."""
    reading: ClassVar[Action] = "view"
    """What one has to be allowed to open the page."""

    def admit(self) -> None:
        """Raise Http404 for those who do not see everything, PermissionDenied for those who may not do this."""
        if not scope_of(self.actor, "view").everything:
            raise Http404
        acting(self.actor, "administer" if self.request.method == "POST" else self.reading)

    def shell(self) -> dict[str, Any]:
        """Return the navigation of this part of the site."""
        return navigation(self.actor, self.section)


def navigation(user: User, section: str) -> dict[str, Any]:
    """Return the context of the navigation, with name, title and address of each page of it."""
    may_administer = scope_of(user, "administer").everything
    pages = [
        ("users", _("Users")),
        ("tenants", _("Tenants")),
        ("roles", _("Roles")),
        ("group_mappings", _("Group mappings")),
        *([("tokens", _("API tokens"))] if may_administer else []),
        *([("workload_identities", _("Workload identities"))] if may_administer else []),
        ("audit_log", _("Audit log")),
        ("site", _("Site settings")),
    ]
    sections = [(name, label, reverse(f"web:{name}")) for name, label in pages]
    return {"sections": sections, "section": section, "may_administer": may_administer}


class StaffPage(StaffAccess, TemplateView):
    """A page that is only read."""


class StaffForm(StaffAccess, ServiceForm):
    """A page with a form that admins send."""


class AdminForm(StaffForm):
    """A form that others than admins do not even see."""

    reading = "administer"


class StaffRowForm(StaffAccess, RowForm[M]):
    """A page about one row, with a form that admins send."""


class AdminRowForm(StaffRowForm[M]):
    """The same, for admins alone."""

    reading = "administer"
