"""Forms of the pages of group mappings: an admin says what a group of an identity provider is here."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.forms.users import SeenForm
from scheduler_admin.accounts.models import GroupMapping, Tenant
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


class MappingForm(Form):
    """Say what a group of another door is here."""

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = Tenant.objects.order_by("name").values_list("name", flat=True)
        self.offer("tenant", [("", "–"), *((name, name) for name in names)])


class ChangeMappingForm(MappingForm, SeenForm):
    """Change a mapping from what the person saw."""
