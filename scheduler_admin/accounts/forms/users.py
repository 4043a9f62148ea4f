"""Forms of the pages of users: an admin creates and changes users, sets passwords, and deletes users."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import Membership, Tenant, User
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


def _password() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        strip=False,
        max_length=limits.PASSWORD,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy(
            "At least 8 characters, and not a common password. If you leave this empty, a password is generated and "
            "shown once."
        ),
    )


class SeenForm(Form):
    """A form that sends back what the page showed, so that nobody overwrites what they have not seen."""

    seen = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)


class MembershipsForm(Form):
    """Tenants that a user belongs to, and tenants whose subtrees the user changes."""

    tenants = forms.MultipleChoiceField(
        label=gettext_lazy("Member of"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Members see the namespaces and queues of the tenant."),
    )
    edits = forms.MultipleChoiceField(
        label=gettext_lazy("Editor of"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Editors also change the queues below the top queue of the tenant."),
    )
    renamed = {"memberships": "tenants", "username": "name"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = {tenant.name: tenant for tenant in Tenant.objects.order_by("name")}
        for name in ("tenants", "edits"):
            field = self.fields[name]
            assert isinstance(field, forms.MultipleChoiceField)
            field.choices = [(tenant, tenant) for tenant in self._known]

    def chosen(self, name: str) -> list[Tenant]:
        """Return the tenants that are ticked in a field."""
        return [self._known[tenant] for tenant in self.cleaned_data[name]]

    @property
    def memberships(self) -> dict[Tenant, str]:
        """Return the role at each tenant that is ticked: an editor is a member, too."""
        members = dict.fromkeys(self.chosen("tenants"), Membership.Role.TENANT.value)
        return members | dict.fromkeys(self.chosen("edits"), Membership.Role.EDITOR.value)


class NewUserForm(MembershipsForm):
    """Create a user."""

    name = forms.CharField(
        label=gettext_lazy("Username"),
        max_length=limits.USER_NAME,
        widget=forms.TextInput(attrs={**CODE, "autocomplete": "off"}),
    )
    email = forms.EmailField(label=gettext_lazy("Email address (optional)"), required=False)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=User.Role.choices, initial=User.Role.TENANT)
    service = forms.BooleanField(
        label=gettext_lazy("Service account: for a program, with API tokens and no password"), required=False
    )
    password = _password()
    reason = ReasonField()
    field_order = ["name", "service", "password", "email", "role", "tenants", "edits", "reason"]

    def clean(self) -> dict[str, Any]:
        """Check that a service account has no password."""
        given = super().clean() or self.cleaned_data
        if given.get("service") and given.get("password"):
            self.add_error("password", _("Leave this empty: a service account has no password."))
        return given


class ChangeUserForm(MembershipsForm, SeenForm):
    """Change a user from what the person saw."""

    email = forms.EmailField(label=gettext_lazy("Email address (optional)"), required=False)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=User.Role.choices)
    active = forms.BooleanField(label=gettext_lazy("Active: can sign in and use API tokens"), required=False)
    reason = ReasonField()
    field_order = ["seen", "email", "role", "tenants", "edits", "active", "reason"]

    def follow_groups(self) -> None:
        """Leave role and tenants to the groups of somebody who signs in elsewhere."""
        for name in ("role", "tenants", "edits"):
            self.fields[name].disabled = True
            self.fields[name].help_text = gettext_lazy("Follows from the groups at the identity provider.")

    def keep_own(self) -> None:
        """Keep people from locking themselves out."""
        for name in ("role", "active"):
            self.fields[name].disabled = True
            self.fields[name].help_text = gettext_lazy("Only another admin can change this for you.")


class NewPasswordForm(SeenForm):
    """Set a new password for a user."""

    password = _password()
    reason = ReasonField()


class DeleteForm(SeenForm):
    """Delete what the page shows, or revoke it."""

    reason = ReasonField()
