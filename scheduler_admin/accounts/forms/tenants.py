"""Forms of the pages of tenants: an admin creates one, changes one, and adds members."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.forms.users import SeenForm
from scheduler_admin.accounts.models import Membership, User
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


class NamesField(forms.CharField):
    """Names, one per line."""

    widget = forms.Textarea(attrs={**CODE, "rows": 4})

    def clean(self, value: Any) -> list[str]:
        """Return the names without blanks around them, each once, in the order in which they were typed."""
        lines = (line.strip() for line in super().clean(value).splitlines())
        return list(dict.fromkeys(line for line in lines if line))


class NewTenantForm(Form):
    """Create a tenant."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=limits.TENANT_NAME, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    namespaces = NamesField(
        label=gettext_lazy("Namespaces"),
        required=False,
        max_length=limits.NAMES,
        help_text=gettext_lazy("One per line. Members see the pods of these namespaces."),
    )
    subtrees = NamesField(
        label=gettext_lazy("Queues"),
        required=False,
        max_length=limits.NAMES,
        help_text=gettext_lazy(
            "Queue paths such as <code>root.team-a</code>, one per line. The queues below them are included. Members "
            "see these queues, and editors change the queues below them."
        ),
    )
    reason = ReasonField()


class ChangeTenantForm(NewTenantForm, SeenForm):
    """Change a tenant from what the person saw."""


class MemberForm(Form):
    """Make somebody a member or an editor of a tenant."""

    user = forms.CharField(label=gettext_lazy("User"), max_length=limits.USER_NAME, widget=forms.Select)
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=Membership.Role.choices)
    reason = ReasonField()
    renamed = {"memberships": "user"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = User.objects.filter(identity=None).order_by("username").values_list("username", flat=True)
        self.offer("user", [("", "–"), *((name, name) for name in names)])
