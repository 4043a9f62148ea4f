"""Forms of the page of the whole site."""

from collections.abc import Mapping
from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.support import check_links, read_lines
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


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


class SupportForm(Form):
    """Say whom tenants can ask."""

    key = "support"
    renamed: ClassVar[Mapping[str, str]] = {"support_contact": "contact", "support_links": "links"}
    contact = forms.CharField(
        label=gettext_lazy("Contact"),
        required=False,
        max_length=limits.SUPPORT_CONTACT,
        help_text=gettext_lazy("Plain text, such as the name of a team, a channel or an email address."),
    )
    links = forms.CharField(
        label=gettext_lazy("Links"),
        required=False,
        max_length=limits.SUPPORT_LINKS * (limits.SUPPORT_LABEL + limits.SUPPORT_URL),
        widget=forms.Textarea(attrs={**CODE, "rows": 3}),
        help_text=gettext_lazy(
            "One per line: a label, a space, and an address. It can contain <code>{cluster}</code>, "
            "<code>{namespace}</code>, <code>{pod}</code>, <code>{queue}</code>, <code>{link}</code> (the pod’s page) "
            "and <code>{summary}</code>. Example: <code>Open a ticket https://tickets.example.com/new?about={pod}</code>"
        ),
    )
    reason = ReasonField()

    def clean_links(self) -> list[dict[str, str]]:
        """Return the links of the lines."""
        found = read_lines(self.cleaned_data["links"])
        check_links(found)
        return found
