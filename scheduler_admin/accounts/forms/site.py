"""Forms of the page of the whole site."""

from django import forms
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import Site
from scheduler_admin.core.forms import Form, ReasonField


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
