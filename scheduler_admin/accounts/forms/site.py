"""Forms of the page of the whole site."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.link_templates import (
    check_node_links,
    check_pod_links,
    check_support_links,
    read_lines,
    write_lines,
)
from scheduler_admin.accounts.models import Site
from scheduler_admin.core import limits
from scheduler_admin.core.forms import CODE, Form, ReasonField


class LinksField(forms.CharField):
    """Links, one in a line: a label, a space, and the template of an address."""

    def __init__(self, *, check: Callable[[Any], None], **settings: Any) -> None:
        super().__init__(
            required=False,
            max_length=limits.LINKS * (limits.LINK_LABEL + limits.LINK_URL),
            widget=forms.Textarea(attrs={**CODE, "rows": 3}),
            **settings,
        )
        self.check = check

    def prepare_value(self, value: Any) -> Any:
        """Return the lines of links that are stored; what somebody typed stays as it is."""
        return write_lines(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[dict[str, str]]:
        """Return the links. Raises ValidationError."""
        found = read_lines(super().clean(value))
        self.check(found)
        return found


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
    links = LinksField(
        label=gettext_lazy("Links"),
        check=check_support_links,
        help_text=gettext_lazy(
            "One per line: a label, a space, and an address. It can contain <code>{cluster}</code>, "
            "<code>{namespace}</code>, <code>{pod}</code>, <code>{queue}</code>, <code>{link}</code> (the pod’s page) "
            "and <code>{summary}</code>. Example: <code>Open a ticket https://tickets.example.com/new?about={pod}</code>"
        ),
    )
    reason = ReasonField()


class ToolLinksForm(Form):
    """Set the links from pods and nodes to other tools."""

    key = "tools"
    pod_links = LinksField(
        label=gettext_lazy("Links of a pod"),
        check=check_pod_links,
        help_text=gettext_lazy(
            "One per line: a label, a space, and an address. It can contain <code>{cluster}</code>, "
            "<code>{namespace}</code>, <code>{pod}</code> and <code>{node}</code>. It can also contain "
            "<code>{queue}</code>, <code>{application}</code>, and the times <code>{from}</code> and "
            "<code>{to}</code> in milliseconds. "
            "Example: <code>Headlamp https://headlamp.example.com/c/{cluster}/pods/{namespace}/{pod}</code>"
        ),
    )
    node_links = LinksField(
        label=gettext_lazy("Links of a node"),
        check=check_node_links,
        help_text=gettext_lazy(
            "In the same form, with <code>{cluster}</code>, <code>{node}</code>, <code>{from}</code> and "
            "<code>{to}</code>. Example: <code>Headlamp https://headlamp.example.com/c/{cluster}/nodes/{node}</code>"
        ),
    )
    reason = ReasonField()
