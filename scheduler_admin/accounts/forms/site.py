"""Forms of the page of the whole site."""

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import GroupMapping, Site
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, KeyField, ReasonField


class PreemptorForm(Form):
    """Choose what a victim's tenant learns of the preemptor."""

    key = "tell"
    preemptor = forms.ChoiceField(label=gettext_lazy("Visible details"), choices=Site.Preemptor.choices)
    reason = ReasonField()


class ApprovalForm(Form):
    """Choose who needs a second person to publish a tree."""

    key = "second"
    second_for_editors = forms.BooleanField(label=gettext_lazy("Editors of a subtree"), required=False)
    second_for_admins = forms.BooleanField(label=gettext_lazy("Admins"), required=False)
    reason = ReasonField()


class MappingForm(Form):
    """Say what a group of another door is here."""

    key = "map"
    group = forms.CharField(
        label=gettext_lazy("Group"),
        max_length=limits.GROUP,
        widget=forms.TextInput(attrs=CODE),
        help_text=gettext_lazy(
            "The group’s name at the identity provider. For Kubernetes, enter a name such as "
            "<code>kubernetes:group:system:serviceaccounts:ci</code> or "
            "<code>kubernetes:user:system:serviceaccount:ci:deploy</code>."
        ),
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=GroupMapping.ROLES)
    tenant = forms.CharField(
        label=gettext_lazy("Tenant (only for the roles Tenant and Editor)"),
        required=False,
        max_length=limits.TENANT_NAME,
        widget=forms.Select,
    )
    reason = ReasonField()


class RemoveMappingForm(Form):
    """Remove a group: a row of the page's table."""

    key = "unmap"
    mapping = KeyField()
    reason = ReasonField()
